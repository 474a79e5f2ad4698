import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import { activeClient, requireClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import { askerOf } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { listPage, pageTag } from "../secrets/pages.ts";
import { secretView } from "../secrets/view.ts";
import { auditListing } from "./audit-listing.ts";
import { visibleFolders } from "./visible-folders.ts";

/**
 * GET /api/sm/v1/secrets
 * The whole list is tagged by a digest of all that the client can see, so that a poller costs one small statement; a
 * page by what it holds, since a digest of very many secrets would cost more than the page.
 */
export async function listVisibleSecrets(
  deps: Deps,
  call: Call<Machine, unknown, undefined, ListQuery>,
): Promise<Tagged | NotModified> {
  return call.query.limit === undefined ? wholeList(deps, call) : onePage(deps, call);
}

async function wholeList(
  deps: Deps,
  call: Call<Machine, unknown, undefined, ListQuery>,
): Promise<Tagged | NotModified> {
  const { caller, query, held } = call;
  // Read before the rows, which may then be newer than it: the next request fetches them once more.
  const state = await deps.reads.digest(askerOf(deps, caller));
  const client = activeClient(caller, state);
  const tag = state?.digest ?? "";
  if (held.includes(tag)) return notModified(tag);
  const folderIds = await visibleFolders(deps.database.pool, caller, query.folder_id);
  const page = await listPage(deps.database.pool, folderIds, query);
  await auditListing(deps, call, client, "secret.listed", page.data.length);
  return tagged(tag, { ...page, data: page.data.map(secretView) });
}

async function onePage(deps: Deps, call: Call<Machine, unknown, undefined, ListQuery>): Promise<Tagged | NotModified> {
  const { caller, query, held } = call;
  const client = await requireClient(deps.database.pool, deps, caller);
  const folderIds = await visibleFolders(deps.database.pool, caller, query.folder_id);
  const page = await listPage(deps.database.pool, folderIds, query);
  const tag = pageTag(page);
  if (held.includes(tag)) return notModified(tag);
  await auditListing(deps, call, client, "secret.listed", page.data.length);
  return tagged(tag, { ...page, data: page.data.map(secretView) });
}
