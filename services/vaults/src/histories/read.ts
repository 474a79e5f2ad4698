import type { AuditedCall } from "@coffer/http";
import type { HistoryQuery, User } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { type HistoryPage, listEntries } from "../store/histories.ts";
import type { VaultPath } from "../vaults/bodies.ts";

/** GET /api/vaults/{id}/history */
export async function readVaultHistory(
  deps: Deps,
  { caller, params, query, audit }: AuditedCall<User, VaultPath, undefined, HistoryQuery>,
): Promise<HistoryPage> {
  const { vault, page } = await deps.database.transaction(async (tx) => {
    const found = await requireVault(tx, caller, params.id, "read");
    return { vault: found, page: await listEntries(tx, found.id, query.after) };
  });
  await deps.audit(audit({ orgId: vault.orgId, actor: vault.actor, count: page.data.length, reason: "history" }));
  return page;
}
