import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import { requireClient } from "../access/client.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import type { SearchQuery } from "../secrets/bodies.ts";
import { pageTag, searchPage } from "../secrets/pages.ts";
import { secretView } from "../secrets/view.ts";
import { auditListing } from "./audit-listing.ts";
import { visibleFolders } from "./visible-folders.ts";

/** GET /api/sm/v1/secrets/search */
export async function searchVisibleSecrets(
  deps: Deps,
  call: Call<Machine, unknown, undefined, SearchQuery>,
): Promise<Tagged | NotModified> {
  const { caller, query, held } = call;
  const client = await requireClient(deps.database.pool, deps, caller);
  const folderIds = await visibleFolders(deps.database.pool, caller, query.folder_id);
  const page = await searchPage(deps.database.pool, folderIds, query);
  const tag = pageTag(page);
  if (held.includes(tag)) return notModified(tag);
  await auditListing(deps, call, client, "secret.searched", page.data.length);
  return tagged(tag, { ...page, data: page.data.map(secretView) });
}
