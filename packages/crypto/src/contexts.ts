import { CryptoError } from "./crypto-error.ts";

declare const context: unique symbol;

/** The purpose of a ciphertext, as authenticated text. Only `contexts` makes one. */
export type Context = string & { readonly [context]: true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** 16 bytes as base64url. The last character has four unused bits, which are zero. */
const secretUid = /^[A-Za-z0-9_][A-Za-z0-9_-]{20}[AQgw]$/;
const resource = /^(org|folder|vault):[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const entryHash = /^([0-9a-f]{64}|null)$/;
const wholeNumber = /^(0|[1-9][0-9]{0,15})$/;
const fieldName = /^[^\p{Cc}]{1,128}$/u;

/**
 * The context of everything that is encrypted: one function per row of the table in
 * docs/spec/vectors/README.md. Ids are checked, so that two objects never share a context.
 *
 * Each throws CryptoError `invalid_input` for an id that is not a lower-case UUID (a secret's `uid`:
 * 22 base64url characters, the first not `-`, unused bits zero), or a field name that is not 1 to
 * 128 characters without control characters.
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
  /** A machine's cached responses, under its cache key. It never leaves the machine. */
  cache: (clientId: string): Context => build("cache", checked(uuid, clientId)),
  /**
   * A device's copy of vaults and records, under a key derived from the user key. It never leaves
   * the device.
   */
  replica: (userId: string): Context => build("replica", checked(uuid, userId)),
  /** A browser's key pins, under the user key. They never leave the device. */
  devicePins: (userId: string): Context => build("device-pins", checked(uuid, userId)),
  /**
   * What a device keeps of a hidden vault, under a key derived from the user key. It never leaves
   * the device.
   */
  hiddenPin: (vaultId: string): Context => build("hidden-pin", checked(uuid, vaultId)),
  /**
   * How far a browser has verified an organization's audit, under the user key. It never leaves the
   * device.
   */
  auditHead: (orgId: string): Context => build("audit-head", checked(uuid, orgId)),
  /** The session of a locked console, under a key from the password. It never leaves the browser's memory. */
  lockedSession: (userId: string): Context => build("locked-session", checked(uuid, userId)),
  /** The user key, under a key from a passkey of one browser. It never leaves the browser. */
  passkey: (userId: string): Context => build("passkey", checked(uuid, userId)),
  /** The session that this passkey opens, under the user key. It never leaves the browser. */
  passkeySession: (userId: string): Context => build("passkey-session", checked(uuid, userId)),
  /**
   * The private join key of an invitation, under the token's wrap key. It is bound to the position
   * of its history entry; `prev` is the hash of the previous entry, null for the first.
   */
  join: (res: string, seq: number, prev: string | null): Context =>
    build("join", checked(resource, res), checked(wholeNumber, String(seq)), checked(entryHash, String(prev))),
  /** The key pins of histories that a person's devices share, under the user key. */
  keyring: (userId: string, version: number): Context =>
    build("keyring", checked(uuid, userId), checked(wholeNumber, String(version))),
  /** The key pin of one vault's history that a person's devices share, under the user key. */
  vaultPin: (vaultId: string, version: number): Context =>
    build("vault-pin", checked(uuid, vaultId), checked(wholeNumber, String(version))),
  /** The key of a personal backup, under the user key. The client makes the id. */
  backupKey: (backupId: string): Context => build("backup-key", checked(uuid, backupId)),
  /** A part of a personal backup, under its key; the parts are numbered from 0. */
  backupPart: (backupId: string, part: number): Context =>
    build("backup", checked(uuid, backupId), checked(wholeNumber, String(part))),
  /** The user key, under the key from OPAQUE's export key or from the recovery key. */
  userKey: (): Context => build("user-key"),
} as const;

function build(...parts: string[]): Context {
  // The brand exists only in the types. This is the only place that creates it.
  return ["coffer/v1", ...parts].join("/") as Context;
}

function checked(shape: RegExp, value: string): string {
  if (!shape.test(value)) throw new CryptoError("invalid_input", "the id or name cannot be part of a context");
  return value;
}
