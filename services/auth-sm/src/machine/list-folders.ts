import type { Call } from "@coffer/http";
import { requireSeenClient } from "../access/machine-reads.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { GrantedFolder } from "../store/machines/client-folders.ts";

/** GET /api/sm/v1/folders */
export async function listGrantedFolders(
  deps: Deps,
  { caller }: Call<Machine>,
): Promise<{ data: readonly GrantedFolder[] }> {
  const { folders } = await requireSeenClient(deps, caller);
  return { data: folders };
}
