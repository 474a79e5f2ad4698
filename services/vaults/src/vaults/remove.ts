import type { Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { auditOf } from "@coffer/service";
import { requireLockedVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { settleSights } from "../sights/settle.ts";
import { deleteVault } from "../store/vault-removal.ts";
import type { VaultPath } from "./bodies.ts";
import { vaultTarget } from "./target.ts";

/** DELETE /api/vaults/{id}: nobody sees its records any more, and they go for good after the commit (docs/adr/0014). */
export async function removeVault(deps: Deps, { caller, params, request }: Call<User, VaultPath>): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { id, orgId, actor } = await requireLockedVault(tx, caller, params.id, "manage");
    const count = await deleteVault(tx, id, deps.now());
    await settleSights(tx, deps, { vaultIds: [id] });
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: orgId,
        action: "vault.deleted",
        actor,
        target: vaultTarget(id, orgId),
        status: 204,
        count,
      }),
    );
  });
  deps.emptying.nudge();
}
