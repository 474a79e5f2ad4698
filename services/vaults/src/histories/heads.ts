import { cutName } from "@coffer/history";
import type { Deps } from "../deps.ts";
import { listHeads, listSoleManaged } from "../store/histories.ts";
import { vaultRes } from "./append-entry.ts";

interface Asked {
  org_id: string;
  user_id: string;
}

/** What a removal from the organization has to cut: the newest entries of the vaults in whose history the person is. */
export async function showHeads(
  { database }: Pick<Deps, "database">,
  { org_id, user_id }: Asked,
): Promise<{ heads: Record<string, [number, string]> }> {
  const rows = await listHeads(database.pool, org_id, user_id);
  const heads = rows.map(async ({ vault_id, seq, hash }): Promise<[string, [number, string]]> => {
    return [await cutName(vaultRes(vault_id)), [seq, hash]];
  });
  return { heads: Object.fromEntries(await Promise.all(heads)) };
}

/** The vaults that nobody could manage any more if the person left the organization. */
export async function showSoleManaged(
  { database }: Pick<Deps, "database">,
  { org_id, user_id }: Asked,
): Promise<{ vaults: { id: string; name: string }[] }> {
  return { vaults: [...(await listSoleManaged(database.pool, org_id, user_id))] };
}
