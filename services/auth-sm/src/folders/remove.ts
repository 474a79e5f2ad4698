import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireManagedFolder } from "../access/managed-folder.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listFolderPeople } from "../store/folders/folder-grants.ts";
import { countFolderSecrets, deleteFolder } from "../store/folders/folders.ts";
import type { FolderPath, FolderRemoval } from "./bodies.ts";
import { publishFolderChange } from "./publish-change.ts";

/** DELETE /api/org/folders/{id}: `force=true` also deletes its secrets. */
export function removeFolder(
  deps: Deps,
  { caller, params, query, audit }: AuditedCall<User, FolderPath, undefined, FolderRemoval>,
): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, actor, folder } = await requireManagedFolder(tx, caller, params.id, "whole");
    const secrets = await countFolderSecrets(tx, folder.id);
    if (secrets > 0 && query.force !== "true") {
      const held = secrets === 1 ? "a secret: delete it" : `${secrets} secrets: delete them`;
      throw new ServiceError("conflict", `the folder holds ${held} first, or use force=true`);
    }
    const userIds = await listFolderPeople(tx, folder.id);
    await deleteFolder(tx, folder.id);
    await publishFolderChange(tx, deps, { folderIds: [folder.id], change: "metadata", userIds });
    await enqueueAudit(
      tx,
      audit({ orgId, actor, target: { parent_id: orgId }, changes: { name: folder.name }, count: secrets }),
    );
  });
}
