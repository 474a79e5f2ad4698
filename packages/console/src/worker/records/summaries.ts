import type { SyncedRecord, Vault } from "@coffer/sdk";
import { folded } from "../../order.ts";
import type { RecordSummary, VaultSummary } from "../../protocol/session.ts";

export function recordSummary({ id, vault_id, type, fields, updated_at }: SyncedRecord): RecordSummary {
  const name = fields["name"] ?? "";
  const username = fields["username"] ?? fields["email"] ?? fields["cardholder_name"] ?? "";
  const host = hostOf(fields["uri"] ?? "");
  return {
    id,
    vaultId: vault_id,
    type,
    name,
    username,
    host,
    searched: folded(`${name} ${username} ${host}`),
    hasPassword: (fields["password"] ?? "") !== "",
    hasCode: (fields["totp_secret"] ?? "") !== "",
    updatedAt: updated_at,
  };
}

export function vaultSummary(vault: Vault): VaultSummary {
  const { id, name, type, permission, safe_for_travel, record_count, problem } = vault;
  return { id, name, type, permission, safeForTravel: safe_for_travel, records: record_count, problem };
}

function hostOf(uri: string): string {
  return (URL.parse(uri)?.hostname ?? uri).replace(/^www\./, "");
}
