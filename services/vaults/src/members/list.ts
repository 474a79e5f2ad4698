import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import type { User } from "@coffer/service";
import { requireVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { listMembers } from "../store/vault-members.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { tagOf } from "../vaults/tag.ts";

/** GET /api/vaults/{id}/members: for everybody who sees the vault. */
export async function listVaultMembers(
  deps: Deps,
  { caller, params, held }: Call<User, VaultPath>,
): Promise<Tagged | NotModified> {
  const data = await deps.database.transaction(async (tx) => {
    const { id } = await requireVault(tx, caller, params.id, "read");
    return listMembers(tx, id);
  });
  const tag = tagOf(data);
  return held.includes(tag) ? notModified(tag) : tagged(tag, { data });
}
