import type { RecordRow } from "../store/records.ts";

/** A record of the specification (2.2). */
export interface RecordView {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  created_at: string;
  /** The server's timestamp of the last write: also the entity tag of the record. */
  updated_at: string;
}

/** What a person who sees the vault is told of a record. */
export function recordView({ id, vault_id, type, encrypted_data, created_at, updated_at }: RecordRow): RecordView {
  return { id, vault_id, type, encrypted_data, created_at, updated_at };
}
