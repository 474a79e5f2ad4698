import type { Call, NotModified, Tagged } from "@coffer/http";
import { notModified, tagged } from "@coffer/http";
import { requireReadableFolder } from "../access/readable-folder.ts";
import { auditOf } from "../audit.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { ListQuery } from "../secrets/bodies.ts";
import { listPage, pageTag } from "../secrets/pages.ts";
import { secretMetadata, secretView } from "../secrets/view.ts";

/** GET /api/org/folders/{id}/secrets */
export async function listFolderSecrets(
  deps: Deps,
  { caller, params, query, held, request }: Call<User, { id: string }, undefined, Omit<ListQuery, "folder_id">>,
): Promise<Tagged | NotModified> {
  const folder = await requireReadableFolder(deps.database.pool, caller, params.id);
  const page = await listPage(deps.database.pool, [folder.folderId], query);
  const tag = pageTag(page);
  if (held.includes(tag)) return notModified(tag);
  await deps.audit(
    auditOf(deps, request, {
      org_id: folder.orgId,
      action: "secret.listed",
      actor: folder.actor,
      target: { type: "folder", id: folder.folderId },
      status: 200,
      count: page.data.length,
    }),
  );
  return tagged(tag, { ...page, data: page.data.map(folder.ciphertext ? secretView : secretMetadata) });
}
