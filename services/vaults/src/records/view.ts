import type { RecordRow } from "../store/records/records.ts";

/** A record of the specification (2.2). */
export interface RecordView {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  created_at: string;
  /** The server timestamp of the last write; also the entity tag. */
  updated_at: string;
}

export function recordView({ id, vault_id, type, encrypted_data, created_at, updated_at }: RecordRow): RecordView {
  return { id, vault_id, type, encrypted_data, created_at, updated_at };
}
