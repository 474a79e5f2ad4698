import type { Call } from "@coffer/http";
import { activeClient } from "../access/client.ts";
import { callingClientOf, type Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { GrantedFolder } from "../store/client-folders.ts";

/** GET /api/sm/v1/folders */
export async function listGrantedFolders(
  deps: Deps,
  { caller }: Call<Machine>,
): Promise<{ data: readonly GrantedFolder[] }> {
  const { client } = activeClient(caller, await deps.reads.client(callingClientOf(deps, caller)));
  return { data: client.folders };
}
