import type { Cut, HolderId, Holder, Invitation, Resource, SignerId } from "./claims.ts";

/** The place of an entry in its history. */
export interface Head {
  seq: number;
  /** Lower-case hex SHA-256 of the entry's `header.payload`. */
  hash: string;
}

/** An invitation that no one has used yet. */
export interface OpenInvitation extends Invitation {
  /** The person who made it, and the key with which that person signed. */
  by: HolderId;
  by_key: string;
  /** The place of the entry that made it: `sealed` is bound to it. */
  seq: number;
  prev: string | null;
}

/** A person whose signatures a history counts on, by id and key. A join counts on the maker of its invitation. */
export interface Signer {
  who: HolderId;
  key: string;
  /** The newest entry that counts on this person. */
  seq: number;
}

/** A person who was dropped from an organization, by id and key. */
export interface FormerMember {
  who: HolderId;
  key: string;
  /** How far the person's signatures count in each folder and vault. */
  cut: Cut;
}

/**
 * What a history says after one of its entries. It is plain data that survives JSON, so that a client or a server can
 * store it and go on from there.
 */
export interface HistoryState {
  res: Resource;
  /** Of a folder or vault: the id of its organization. */
  org: string | null;
  head: Head;
  name: string;
  /** The version of the key and its check; null in organizations. */
  ver: number | null;
  check: string | null;
  /** In the order of `who`. */
  holders: Holder[];
  invitations: OpenInvitation[];
  /** Of a folder or vault. */
  signers: Signer[];
  /** Of an organization. */
  former: FormerMember[];
  /** The person whose `cut` the next entry may continue. */
  cutting: HolderId | null;
  last_signer: SignerId;
}

/** The holder of this id; undefined when there is none. */
export function holderOf(state: HistoryState, who: string): Holder | undefined {
  return state.holders.find((holder) => holder.who === who);
}

/** Whether this is a holder with the permission to manage. */
export function isManager(state: HistoryState, who: string): boolean {
  return holderOf(state, who)?.perm === "manage";
}

/** Which kind of thing a history is about. */
export function kindOf(res: Resource): "org" | "folder" | "vault" {
  return res.slice(0, res.indexOf(":")) as "org" | "folder" | "vault"; // the type has no other prefix
}
