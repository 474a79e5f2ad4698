import type { Permission } from "@coffer/contract";
import type { SealedPin } from "../store/vaults/vault-pins.ts";
import type { VaultRow, VaultType } from "../store/vaults/vaults.ts";

/** A new vault (specification 2.1), with additions. */
export interface NewVaultView {
  id: string;
  org_id: string | null;
  name: string;
  type: VaultType;
  created_at: string;
  record_count: number;
  safe_for_travel: boolean;
  permission: Permission;
  key_version: number;
  /** The vault's key, sealed for the caller; null until a manager seals it. */
  encrypted_key: string | null;
  encrypted_key_alg: "box-user" | "jwe" | null;
  /** The number of the newest entry of the vault's history; null without a history. */
  history_seq: number | null;
  /** The pin that the caller's devices share. */
  sealed_pin: SealedPin | null;
}

export interface VaultView extends NewVaultView {
  updated_at: string;
}

export function vaultView({ updated_at, ...row }: VaultRow): VaultView {
  return { ...newVaultView(row), updated_at };
}

export function newVaultView(row: Omit<VaultRow, "updated_at">): NewVaultView {
  return {
    id: row.id,
    org_id: row.org_id,
    name: row.name,
    type: row.type,
    created_at: row.created_at,
    record_count: row.record_count,
    safe_for_travel: row.safe_for_travel,
    permission: row.permission,
    key_version: row.key_version,
    encrypted_key: row.encrypted_key,
    encrypted_key_alg: row.encrypted_key === null ? null : algorithmOf(row.encrypted_key),
    history_seq: row.history_seq,
    sealed_pin:
      row.pin_version === null || row.pin_sealed === null ? null : { version: row.pin_version, sealed: row.pin_sealed },
  };
}

/** Keys are base64 or a compact JWE; only the latter has dots. */
function algorithmOf(encryptedKey: string): "box-user" | "jwe" {
  return encryptedKey.includes(".") ? "jwe" : "box-user";
}
