import { cutName } from "@coffer/history";
import type { Deps } from "../deps.ts";
import { listHeads, listSoleManaged } from "../store/histories.ts";
import { vaultRes } from "./append-entry.ts";

interface MemberOfOrganization {
  org_id: string;
  user_id: string;
}

/**
 * The newest entries of the vaults whose history names the person: a removal cuts these histories.
 */
export async function showHeads(
  { database }: Pick<Deps, "database">,
  { org_id, user_id }: MemberOfOrganization,
): Promise<{ heads: Record<string, [number, string]> }> {
  const rows = await listHeads(database.pool, org_id, user_id);
  const heads = rows.map(async ({ vault_id, seq, hash }): Promise<[string, [number, string]]> => {
    return [await cutName(vaultRes(vault_id)), [seq, hash]];
  });
  return { heads: Object.fromEntries(await Promise.all(heads)) };
}

/** The vaults of which the person is the only manager in the organization. */
export async function showSoleManaged(
  { database }: Pick<Deps, "database">,
  { org_id, user_id }: MemberOfOrganization,
): Promise<{ vaults: { id: string; name: string }[] }> {
  return { vaults: [...(await listSoleManaged(database.pool, org_id, user_id))] };
}
