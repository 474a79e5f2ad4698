import type { Cut, HolderId, Holder, Invitation, Resource, SignerId } from "./claims.ts";

/** The position of an entry in its history. */
export interface Head {
  seq: number;
  /** Lower-case hex SHA-256 of the entry's `header.payload`. */
  hash: string;
}

/** An unused invitation. */
export interface OpenInvitation extends Invitation {
  /** The person who made it, and that person's key at the time. */
  by: HolderId;
  by_key: string;
  /** The position of the entry that made it: `sealed` is bound to it. */
  seq: number;
  prev: string | null;
}

/**
 * A person, by id and key, whose signatures a history relies on. A join relies on the maker of its
 * invitation.
 */
export interface Signer {
  who: HolderId;
  key: string;
  /** The entry that last set this person before the signature; 0 for the founder. */
  since: number;
  /** The newest entry that relies on this person. */
  seq: number;
}

/** A person who was removed from an organization, by id and key. */
export interface FormerMember {
  who: HolderId;
  key: string;
  /** Up to which entry the person's signatures count in each folder and vault. */
  cut: Cut;
}

/**
 * The state of a history after one of its entries. It is plain JSON data, so that a client or a
 * server can store it and continue from it.
 */
export interface HistoryState {
  res: Resource;
  /** For a folder or vault: the id of its organization. */
  org: string | null;
  head: Head;
  name: string;
  /** The version of the key and its check; null in organizations. */
  ver: number | null;
  check: string | null;
  /** In the order of `who`. */
  holders: Holder[];
  invitations: OpenInvitation[];
  /** For a folder or vault: the entry that last set each of its people. */
  set_at: Record<string, number>;
  /** For a folder or vault. */
  signers: Signer[];
  /** For an organization. */
  former: FormerMember[];
  last_signer: SignerId;
}

/** The member or machine with this id; undefined when there is none. */
export function holderOf(state: HistoryState, who: string): Holder | undefined {
  return state.holders.find((holder) => holder.who === who);
}

export function isManager(state: HistoryState, who: string): boolean {
  return holderOf(state, who)?.perm === "manage";
}

export function kindOf(res: Resource): "org" | "folder" | "vault" {
  return res.slice(0, res.indexOf(":")) as "org" | "folder" | "vault"; // the type has no other prefix
}
