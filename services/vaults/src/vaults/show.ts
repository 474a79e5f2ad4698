import { type AuditedCall, notModified, type NotModified, tagged, type Tagged } from "@coffer/http";
import { retryOnConflict, type User, userActor } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { busy } from "../errors.ts";
import { findVisibleVault } from "../store/vaults/vaults.ts";
import type { VaultPath } from "./bodies.ts";
import { tagOf } from "./tag.ts";
import { vaultView } from "./view.ts";

/** GET /api/vaults/{id} */
export async function showVault(
  deps: Deps,
  { caller, params, held, audit }: AuditedCall<User, VaultPath>,
): Promise<Tagged | NotModified> {
  const { pool } = deps.database;
  const row = await retryOnConflict(async () => {
    const visible = await findVisibleVault(pool, params.id, caller.userId);
    if (visible === null) await requireVault(pool, caller, params.id, "read");
    return visible;
  }, busy);
  const answer = vaultView(row);
  const tag = tagOf(answer);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(audit({ orgId: row.org_id, actor: userActor(caller), count: 1 }));
  return tagged(tag, answer);
}
