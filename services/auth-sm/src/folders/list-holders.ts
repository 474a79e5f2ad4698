import type { Call } from "@coffer/http";
import { requireKnownFolder } from "../access/known-folder.ts";
import { observers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type HolderRow, listHolders } from "../store/folders/folders.ts";
import type { FolderPath } from "./bodies.ts";

/**
 * GET /api/org/folders/{id}/members
 * The members and machines with a grant. For those members, managers and auditors.
 */
export async function listFolderHolders(
  deps: Deps,
  { caller, params }: Call<User, FolderPath>,
): Promise<{ data: readonly HolderRow[] }> {
  const { pool } = deps.database;
  const { folderId } = await requireKnownFolder(pool, caller, params.id, observers);
  return { data: await listHolders(pool, folderId, deps.now()) };
}
