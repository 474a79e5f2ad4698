import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import type { User } from "@coffer/service";
import { auditOf } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { listMembers } from "../store/vault-members.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { tagOf } from "../vaults/tag.ts";

/** GET /api/vaults/{id}/members: for everybody who sees the vault. */
export async function listVaultMembers(
  deps: Deps,
  { caller, params, held, request }: Call<User, VaultPath>,
): Promise<Tagged | NotModified> {
  const { vault, data } = await deps.database.transaction(async (tx) => {
    const found = await requireVault(tx, caller, params.id, "read");
    return { vault: found, data: await listMembers(tx, found.id) };
  });
  const tag = tagOf(data);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: vault.orgId,
      action: "vault.listed",
      actor: vault.actor,
      target: { type: "vault", id: vault.id },
      status: 200,
      count: data.length,
      reason: "members",
    }),
  );
  return tagged(tag, { data });
}
