import type { Call } from "@coffer/http";
import { requireClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { GrantedFolder } from "../store/client-folders.ts";
import { listClientFolders } from "../store/client-folders.ts";

/** GET /api/sm/v1/folders */
export async function listGrantedFolders(
  deps: Deps,
  { caller }: Call<Machine>,
): Promise<{ data: readonly GrantedFolder[] }> {
  await requireClient(deps.database.pool, deps, caller);
  return { data: await listClientFolders(deps.database.pool, caller.clientId) };
}
