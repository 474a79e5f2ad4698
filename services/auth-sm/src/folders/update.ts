import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireManagedFolder } from "../access/managed-folder.ts";
import type { User } from "../callers/user.ts";
import { orConflict } from "../conflict.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { folderRes } from "../histories/resources.ts";
import { type FolderRow, getFolder, renameFolder } from "../store/folders/folders.ts";
import type { FolderName, FolderPath } from "./bodies.ts";
import { publishFolderChange } from "./publish-change.ts";

/** PATCH /api/org/folders/{id} */
export function updateFolder(
  deps: Deps,
  { caller, params, body, audit }: AuditedCall<User, FolderPath, FolderName>,
): Promise<FolderRow> {
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, actor, folder } = await requireManagedFolder(tx, caller, params.id, "grants");
    await orConflict(renameFolder(tx, { id: folder.id, name: body.name, now: deps.now() }), {
      folders_name_key: "a folder of this name exists",
    });
    const { name, entry } = body;
    await appendEntry(tx, {
      res: folderRes(folder.id),
      orgId,
      entry,
      by: `user:${caller.userId}`,
      expected: () => (name === folder.name ? null : { name }),
    });
    await enqueueAudit(
      tx,
      audit({ orgId, actor, target: { parent_id: orgId }, changes: { name: body.name, previous_name: folder.name } }),
    );
    const renamed = await getFolder(tx, folder.id, caller.userId);
    await publishFolderChange(tx, deps, { folderIds: [folder.id], change: "metadata", updatedAt: renamed.updated_at });
    return renamed;
  });
}
