import type { ListedSecret } from "../store/secret-parts.ts";
import type { SecretRow } from "../store/secrets.ts";
import type { RecordType } from "./record-types.ts";

/** A secret without anything that was encrypted: what an auditor sees. */
export interface SecretMetadata {
  uid: string;
  folder_id: string;
  record_type: RecordType;
  /** The indexed title, empty where the client gave none. */
  title: string;
  field_names: string[];
  key_version: number;
  version: number;
  created_at: string;
  updated_at: string;
}

/** The read representation of the specification (2.3) with its additions. */
export interface SecretView extends SecretMetadata {
  title_encrypted: string;
  data_encrypted: string;
  wrapped_dek: string;
}

/** The write representation of the specification (2.3), with what the next write needs. */
export interface SecretReceipt {
  uid: string;
  folder_id: string;
  record_type: RecordType;
  created_at: string;
  updated_at: string;
  version: number;
  key_version: number;
}

/** What a caller who may decrypt a secret sees of it. */
export function secretView(row: SecretRow): SecretView {
  return {
    uid: row.uid,
    folder_id: row.folder_id,
    title_encrypted: row.title_encrypted,
    data_encrypted: row.encrypted_payload,
    updated_at: row.updated_at,
    wrapped_dek: row.wrapped_dek,
    record_type: row.record_type,
    title: row.title ?? "",
    field_names: row.field_names,
    key_version: row.key_version,
    version: row.version,
    created_at: row.created_at,
  };
}

/** In a list a secret comes with the newest entry of its folder's history, so that a poller sees when there is a new one. */
export function listedSecret(row: ListedSecret): SecretView & { history_seq: number | null } {
  return { ...secretView(row), history_seq: row.history_seq };
}

/** A secret in the list of a caller who sees no ciphertext. */
export function listedMetadata(row: ListedSecret): SecretMetadata & { history_seq: number | null } {
  return { ...secretMetadata(row), history_seq: row.history_seq };
}

/** What a caller who may see that a secret exists, but no ciphertext, sees of it. */
export function secretMetadata(row: SecretRow): SecretMetadata {
  const { title_encrypted, data_encrypted, wrapped_dek, ...metadata } = secretView(row);
  return metadata;
}

/** The entity tag of one secret: new with every change, also when a deleted uid is used again. */
export function secretTag(row: Pick<SecretRow, "version" | "updated_at">): string {
  return `${row.version}.${row.updated_at}`;
}
