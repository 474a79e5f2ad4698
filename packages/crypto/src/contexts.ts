import { CryptoError } from "./crypto-error.ts";

declare const context: unique symbol;

/** What a ciphertext is, as text that its authentication covers. Only `contexts` makes one. */
export type Context = string & { readonly [context]: true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** 16 bytes as base64url: the last character has four bits that no byte uses, and they are zero. */
const secretUid = /^[A-Za-z0-9_][A-Za-z0-9_-]{20}[AQgw]$/;
const resource = /^(org|folder|vault):[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const entryHash = /^([0-9a-f]{64}|null)$/;
const wholeNumber = /^(0|[1-9][0-9]{0,15})$/;
const fieldName = /^[^\p{Cc}]{1,128}$/u;

/**
 * The context of everything that is encrypted, one function per row of the table in docs/spec/vectors/README.md. Ids
 * are checked, so that no two things ever have one context.
 *
 * Each throws CryptoError `invalid_input` for an id that is not a lower-case UUID (a secret's `uid`: 22 base64url
 * characters, the first not `-`, unused bits zero) or a field name that is not 1 to 128 characters without control characters.
 */
export const contexts = {
  /** `encrypted_payload` of a secret, under its DEK. */
  data: (uid: string): Context => build("data", checked(secretUid, uid)),
  /** `wrapped_dek` of a secret, under the folder key. */
  dek: (uid: string): Context => build("dek", checked(secretUid, uid)),
  /** `title_encrypted` of a secret, under the folder key. */
  title: (uid: string): Context => build("title", checked(secretUid, uid)),
  /** `fields[name]` and `value_encrypted` of a secret, under the folder key. */
  field: (uid: string, name: string): Context =>
    build("field", checked(secretUid, uid), checked(fieldName, name.isWellFormed() ? name : "")),
  /** A folder key under the wrap key of a one-time token, or sealed to a public key. */
  sharedFolderKey: (folderId: string): Context => build("fk", checked(uuid, folderId)),
  /** `encrypted_data` of a record, under the vault key. */
  record: (vaultId: string, recordId: string): Context =>
    build("record", checked(uuid, vaultId), checked(uuid, recordId)),
  /** A vault key, under its creator's user key or sealed to a member's public key. */
  vaultKey: (vaultId: string): Context => build("vault-key", checked(uuid, vaultId)),
  /** The key of a personal vault, under its owner's user key. */
  ownVaultKey: (vaultId: string): Context => build("own-vault-key", checked(uuid, vaultId)),
  /** A folder key under its creator's user key. */
  folderKey: (folderId: string): Context => build("folder-key", checked(uuid, folderId)),
  /** The private key of a user, under the user key. */
  privateKey: (): Context => build("private-key"),
  /** What a machine keeps of the service's answers, under its cache key. It never leaves the machine. */
  cache: (clientId: string): Context => build("cache", checked(uuid, clientId)),
  /** What a person's device keeps of vaults and records, under a key derived from the user key. It never leaves the device. */
  replica: (userId: string): Context => build("replica", checked(uuid, userId)),
  /**
   * The private join key of an invitation, under the token's wrap key: bound to the place of its entry in the history.
   * `prev` is the hash of the entry before, null for the first entry.
   */
  join: (res: string, seq: number, prev: string | null): Context =>
    build("join", checked(resource, res), checked(wholeNumber, String(seq)), checked(entryHash, String(prev))),
  /** What a person's devices share of the histories that they trust, under the user key. */
  keyring: (userId: string, version: number): Context =>
    build("keyring", checked(uuid, userId), checked(wholeNumber, String(version))),
  /** What a person's devices share of one vault's history, under the user key. */
  vaultPin: (vaultId: string, version: number): Context =>
    build("vault-pin", checked(uuid, vaultId), checked(wholeNumber, String(version))),
  /** The user key, under the key from OPAQUE's export key or from the recovery key. */
  userKey: (): Context => build("user-key"),
} as const;

function build(...parts: string[]): Context {
  // The brand exists in the types alone; this is the place that gives it.
  return ["coffer/v1", ...parts].join("/") as Context;
}

function checked(shape: RegExp, value: string): string {
  if (!shape.test(value)) throw new CryptoError("invalid_input", "the id or name cannot be part of a context");
  return value;
}
