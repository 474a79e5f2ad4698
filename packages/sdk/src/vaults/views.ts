import type { Permission } from "@coffer/contract";

// The responses about vaults and records, with the names of the interface.

export interface VaultView {
  id: string;
  org_id: string | null;
  name: string;
  /** `personal` or `shared`; others may come. */
  type: string;
  created_at: string;
  /** Absent in the response that creates the vault. */
  updated_at?: string;
  record_count: number;
  safe_for_travel: boolean;
  /** The vault's key for the caller: a box under the user key, or a JWE to the public key. */
  encrypted_key: string | null;
  encrypted_key_alg?: string | null;
  permission: Permission;
  key_version: number;
  /** The number of the newest entry of its history; null without one. */
  history_seq?: number | null;
  /** The key pin of its history that the person's devices share. */
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
  /** Whether the current key was sealed to this member. */
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
