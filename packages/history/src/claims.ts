/** What a history is about: an organization, a folder or a shared vault, by its id (a lower-case UUID). */
export type Resource = `org:${string}` | `folder:${string}` | `vault:${string}`;

/** A person or a machine that holds something, by its id. */
export type HolderId = `user:${string}` | `client:${string}`;

/** Who signed an entry: a person, or the join key of an invitation, by its tag. */
export type SignerId = `user:${string}` | `invite:${string}`;

export type HistoryPermission = "read" | "write" | "manage";

/** One member of `set`: somebody who holds the resource from this entry on. */
export interface Holder {
  who: HolderId;
  /** base64 of the canonical SPKI DER. */
  key: string;
  perm: HistoryPermission;
  /** In organizations: the canonical e-mail address. */
  email?: string;
}

/** One member of `invite`: lets one newcomer join by itself. */
export interface Invitation {
  /** Hex SHA-256 of the token that the newcomer was given. */
  tag: string;
  kind: "user" | "client";
  perm: HistoryPermission;
  /** In organizations: the e-mail address of the invited person. */
  email?: string;
  /** base64 of the canonical SPKI DER; the newcomer signs the join with the private part. */
  join_key: string;
  /** That private part (PKCS#8 DER) as a box under the token's wrap key, bound to the place of this entry. */
  sealed: string;
}

/** The newest entries of other histories: `cutName(res)` → number and hash of the entry. */
export type Cut = Record<string, [seq: number, hash: string]>;

/** What an entry changes. A member is absent when it has nothing to say. */
export interface Change {
  /** Entry 0 of a folder or vault: the id of its organization. */
  org?: string;
  /** Entry 0 and renames: 1 to 128 characters. */
  name?: string;
  set?: Holder[];
  /** Holders and `invite:<tag>`s that end. */
  drop?: string[];
  /** With the drop of a person from an organization: how far that person's signatures count elsewhere. */
  cut?: Cut;
  invite?: Invitation[];
  /** Entry 0 of a folder or vault, and rotations: the version of the key. */
  ver?: number;
  /** With `ver`: `keyCheck(key, res, ver)`. */
  check?: string;
}

/** The claims of an entry, as they are signed. */
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
