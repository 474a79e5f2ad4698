import type { RecordType } from "@coffer/contract";
import type { ListedSecret } from "../store/secrets/secret-batches.ts";
import type { SecretRow } from "../store/secrets/secrets.ts";

/** A secret without encrypted values: what an auditor sees. */
export interface SecretMetadata {
  uid: string;
  folder_id: string;
  record_type: RecordType;
  /** The searchable title, empty when the client gave none. */
  title: string;
  field_names: string[];
  key_version: number;
  version: number;
  created_at: string;
  updated_at: string;
  /** From this moment on machines do not have the secret; null for never. */
  expires_at: string | null;
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
  expires_at: string | null;
}

/** For people only: a machine has no expired secret. */
interface Expiry {
  expired: boolean;
}

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
    expires_at: row.expires_at,
  };
}

/**
 * In a list each secret has the number of its folder history's newest entry, so that a poller
 * notices a new entry.
 */
export function listedSecret(row: ListedSecret): SecretView & { history_seq: number | null } {
  return { ...secretView(row), history_seq: row.history_seq };
}

export function listedSecretForPerson(row: ListedSecret): SecretView & Expiry & { history_seq: number | null } {
  return { ...secretForPerson(row), history_seq: row.history_seq };
}

export function listedMetadata(row: ListedSecret): SecretMetadata & Expiry & { history_seq: number | null } {
  return { ...secretMetadata(row), history_seq: row.history_seq };
}

export function secretForPerson(row: SecretRow & Expiry): SecretView & Expiry {
  return { ...secretView(row), expired: row.expired };
}

export function secretMetadata(row: SecretRow & Expiry): SecretMetadata & Expiry {
  const { title_encrypted, data_encrypted, wrapped_dek, ...metadata } = secretForPerson(row);
  return metadata;
}

type Tagged = Pick<SecretRow, "version" | "updated_at">;

/**
 * The entity tag of one secret. It changes with every change, also when a deleted uid is used
 * again, and for people when the secret expires.
 */
export function secretTag({ version, updated_at, expired = false }: Tagged & Partial<Expiry>): string {
  return `${version}.${updated_at}${expired ? ".expired" : ""}`;
}

/** The entity tags that name this version of a secret, read before or after it expires. */
export function secretTags(row: Tagged): string[] {
  return [false, true].map((expired) => secretTag({ ...row, expired }));
}
