import type { CryptoErrorCode } from "../../src/index.ts";

/** A published file: what it is about, and one thing per vector. `error` is null where the vector must be accepted. */
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
  /** With which a writer makes exactly this box; null where no writer of this version makes it. */
  nonce: string | null;
  plaintext: string | null;
  /** False for the bare layout, which says nothing about its place. */
  bound: boolean;
}

export interface ContextVector extends Named {
  what: string;
  arguments: string[];
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
  /** What a server stores of it; null where it must refuse. */
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
  /** Uids that secrets of the folder have already. */
  taken: string[];
  uid: string;
  /** The number in the text of the HMAC that gave this uid. */
  turn: number;
}

export interface AuditVector {
  name: string;
  /** Why a reader of the chain must stop here, null for a whole record. */
  error: "changed" | null;
  record: object;
  /** The record without `hash` in the JSON Canonicalization Scheme. */
  canonical: string;
  hash: string;
}
