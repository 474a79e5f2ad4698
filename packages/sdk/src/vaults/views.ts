import type { Permission } from "../views.ts";

// What the service answers about vaults and records, by the names of its interface.

export interface VaultView {
  id: string;
  org_id: string | null;
  name: string;
  /** `personal` or `shared`; others may come. */
  type: string;
  created_at: string;
  /** Absent from the answer that makes the vault. */
  updated_at?: string;
  record_count: number;
  safe_for_travel: boolean;
  /** The vault's key as it was sealed for the caller: a box under the user key, or a JWE to the public key. */
  encrypted_key: string | null;
  encrypted_key_alg?: string | null;
  permission: Permission;
  key_version: number;
  /** The number of the newest entry of its history; null where it has none. */
  history_seq?: number | null;
  /** What the person's devices tell each other of its history. */
  sealed_pin?: { version: number; sealed: string } | null;
}

export interface RecordView {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  created_at: string;
  updated_at: string;
}

export interface VaultMemberView {
  user_id: string;
  name: string;
  email: string;
  permission: Permission;
  added_at: string;
  /** Whether the present key was sealed to this member. */
  has_key?: boolean;
}

export interface VaultGrantView {
  user_id: string;
  permission: Permission;
  key_version: number;
  added_at: string;
}

export interface ImportView {
  imported: number;
  failed: number;
  records: { id: string; type: string }[];
  errors?: { index: number; issue: string }[];
}
