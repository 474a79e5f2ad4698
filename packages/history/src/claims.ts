import type { Permission } from "@coffer/contract";

/**
 * The subject of a history: an organization, a folder or a shared vault, by its id (a lower-case
 * UUID).
 */
export type Resource = `org:${string}` | `folder:${string}` | `vault:${string}`;

/** A member or machine with a grant, by its id. */
export type HolderId = `user:${string}` | `client:${string}`;

/** The signer of an entry: a person, or an invitation's join key by its tag. */
export type SignerId = `user:${string}` | `invite:${string}`;

/** One item of `set`: a member or machine that has the resource from this entry on. */
export interface Holder {
  who: HolderId;
  /** base64 of the canonical SPKI DER. */
  key: string;
  perm: Permission;
  /** In organizations: the canonical e-mail address. */
  email?: string;
}

/** One item of `invite`: permits one join. */
export interface Invitation {
  /** Hex SHA-256 of the token of the invited person or machine. */
  tag: string;
  kind: "user" | "client";
  perm: Permission;
  /** In organizations: the e-mail address of the invited person. */
  email?: string;
  /** base64 of the canonical SPKI DER. The private part signs the join. */
  join_key: string;
  /**
   * The private part (PKCS#8 DER) as a box under the token's wrap key, bound to the position of
   * this entry.
   */
  sealed: string;
}

/** The newest entries of other histories: `cutName(res)` → number and hash of the entry. */
export type Cut = Record<string, [seq: number, hash: string]>;

/** The changes of an entry. A member is absent when it would be empty. */
export interface Change {
  /** Entry 0 of a folder or vault: the id of its organization. */
  org?: string;
  /** Entry 0 and renames: 1 to 128 characters. */
  name?: string;
  set?: Holder[];
  /** The members, machines and `invite:<tag>`s that the entry removes. */
  drop?: string[];
  /**
   * With the drop of a person from an organization: up to which entries that person's signatures
   * count elsewhere.
   */
  cut?: Cut;
  invite?: Invitation[];
  /** Entry 0 of a folder or vault, and rotations: the version of the key. */
  ver?: number;
  /** With `ver`: `keyCheck(key, res, ver)`. */
  check?: string;
}

/** The signed claims of an entry. */
export interface Claims extends Change {
  res: Resource;
  seq: number;
  /** Hash of the entry before; null in entry 0. */
  prev: string | null;
  by: SignerId;
}

/** The one header of every entry. */
export const entryHeader = '{"alg":"ES256","typ":"coffer-history+jwt"}';

/** The longest entry, in characters of the compact JWS. */
export const longestEntry = 64 * 1024;
