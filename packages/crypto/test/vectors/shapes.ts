import type { CryptoErrorCode } from "../../src/index.ts";

/** A published file with its vectors. `error` is null for a vector that must be accepted. */
export interface VectorFile<Vector> {
  about: string;
  vectors: Vector[];
}

interface Named {
  name: string;
  error: CryptoErrorCode | null;
}

/** Bytes are lower-case hexadecimal here, unless the format itself is base64. */
export interface BoxVector extends Named {
  key: string;
  context: string;
  box: string;
  /** The nonce for exactly this box; null if no writer of this version makes it. */
  nonce: string | null;
  plaintext: string | null;
  /** False for the bare layout, which is not bound to a context. */
  bound: boolean;
}

export interface ContextVector extends Named {
  what: string;
  arguments: (string | number | null)[];
  context: string | null;
}

export interface DerivationVector extends Named {
  secret: string;
  info: string;
  key: string;
}

export interface AccessTokenVector extends Named {
  text: string;
  token: string | null;
  token_hash: string | null;
  wrap_key: string | null;
}

export interface RecoveryKeyVector extends Named {
  text: string;
  proof: string | null;
  proof_hash: string | null;
  wrap_key: string | null;
}

export interface SealedVector extends Named {
  private_key: string;
  context: string;
  sealed: string;
  plaintext: string | null;
}

export interface PublicKeyVector extends Named {
  public_key: string;
  /** `spki` is what clients exchange; a server takes the bare `point` too. */
  form: "spki" | "point";
  /** The stored form on a server; null where it must refuse. */
  canonical: string | null;
  fingerprint: { hex: string; words: string } | null;
}

export interface MachineTokenVector {
  name: string;
  token: string;
  /** Null where the token must be accepted. */
  refused: string | null;
}

export interface MachineTokenFile extends VectorFile<MachineTokenVector> {
  now: number;
  audiences: string[];
  client_id: string;
  public_key: string;
  private_key: string;
}

export interface PlaintextVector extends Named {
  kind: "secret" | "record" | "text";
  bytes: string;
  value: unknown;
}

export interface OpaqueVector extends Named {
  server_setup: string;
  user_identifier: string;
  registration_record: string;
  password: string;
  export_key: string | null;
  user_key_seal_key: string | null;
  /** One registration of this password, with the client's state: its blind and its request. */
  registration: {
    client_state: string;
    registration_request: string;
    registration_response: string;
    registration_record: string;
  } | null;
  /** One whole login, with the client's state: its blind, KE1, its ephemeral secret and its nonce. */
  messages: { client_state: string; ke1: string; ke2: string; ke3: string; session_key: string } | null;
}

export interface StableIdVector extends Named {
  key: string;
  text: string;
  id: string | null;
}

export interface SecretUidVector extends Named {
  folder_key: string;
  folder_id: string;
  title: string;
  /** Uids of existing secrets of the folder. */
  taken: string[];
  uid: string;
  /** The number in the HMAC's text that gave this uid. */
  turn: number;
}

export interface AuditVector {
  name: string;
  /** Why a reader of the chain must stop here; null for a valid record. */
  error: "changed" | null;
  record: object;
  /** The record without `hash` in the JSON Canonicalization Scheme. */
  canonical: string;
  hash: string;
}

/** A member of `set`. */
export interface VectorHolder {
  who: string;
  key: string;
  perm: "read" | "write" | "manage";
  email?: string;
}

/** A member of `invite`. */
export interface VectorInvitation {
  tag: string;
  kind: "user" | "client";
  perm: VectorHolder["perm"];
  email?: string;
  join_key: string;
  sealed: string;
}

/** The place of an entry: its number, and the hash of its `header.payload`. */
export interface VectorHead {
  seq: number;
  hash: string;
}

/** The state of a history after its newest entry. */
export interface VectorState {
  res: string;
  org: string | null;
  head: VectorHead;
  name: string;
  ver: number | null;
  check: string | null;
  /** In the order of `who`. */
  holders: VectorHolder[];
  /** Open ones, with their maker and the place of the entry that has them. */
  invitations: (VectorInvitation & { by: string; by_key: string; seq: number; prev: string | null })[];
  /** Folders and vaults: the entry that last set each person. */
  set_at: Record<string, number>;
  /** Folders and vaults: the trusted signers, by id, key and `set_at`, with the newest entry of each. */
  signers: { who: string; key: string; since: number; seq: number }[];
  /** Organizations: the persons who were dropped. */
  former: { who: string; key: string; cut: Record<string, [number, string]> }[];
  last_signer: string;
}

export interface HistoryVector {
  name: string;
  error: "history_invalid" | "signer_removed" | "history_rolled_back" | "history_forked" | "key_mismatch" | null;
  /** The number of the invalid entry; null for a valid history. */
  seq: number | null;
  res: string;
  /** All entries, from number 0. */
  entries: string[];
  /** The history of the organization that the signers are checked against; null without a check. */
  organization: string[] | null;
  /** The client's earlier pin of this history. */
  pin: VectorHead | null;
  /** The key that was opened, to be compared with `check`. */
  key: string | null;
  state: VectorState | null;
}

export interface HistoryFile extends VectorFile<HistoryVector> {
  cut_names: { res: string; name: string }[];
  key_checks: { key: string; res: string; ver: number; check: string }[];
}

export interface JoinVector {
  name: string;
  error: "join_invalid" | "history_invalid" | null;
  /** The newcomer's values. */
  text: string;
  token: string;
  tag: string;
  wrap_key: string;
  res: string;
  entries: string[];
  /** The newcomer. */
  holder: VectorHolder;
  /** PKCS#8 DER in base64, as unsealed from `sealed`. */
  join_private_key: string | null;
  join: string | null;
  /** After the join. */
  state: VectorState | null;
}

export interface KeyringVector extends Named {
  what: "keyring" | "vaultPin";
  user_key: string;
  /** Of the person, or of the vault. */
  id: string;
  version: number;
  context: string;
  sealed: string;
  nonce: string | null;
  content: { pins: Record<string, [number, string]>; accepted: string[] } | null;
}

/** One sealed text of the description's examples. */
export interface ExampleVector extends Named {
  sealed: string;
  /** The member of `keys` that opens it. */
  key: string;
  context: string;
  plaintext: string;
}

export interface ExampleFile extends VectorFile<ExampleVector> {
  ids: Record<string, string>;
  /** Symmetric keys in hexadecimal; `machine` and `person` are PKCS#8 DER in base64. */
  keys: Record<string, string>;
  public_keys: { machine: string; person: string };
  access_token: { text: string; token: string; token_hash: string };
  histories: Record<string, string[]>;
}
