import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireKeyVersion } from "./key-version.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers, requireHeldMembership } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import { orConflict } from "../conflict.ts";
import { requireRoom } from "../counts/require-room.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { folderHolder, folderRes } from "../histories/resources.ts";
import { type FolderRow, getFolder, insertFolder, insertFolderMember, listHolders } from "../store/folders/folders.ts";
import type { NewFolder } from "./bodies.ts";
import { publishFolderChange } from "./publish-change.ts";

/** POST /api/org/folders: The creator gets the key and a `manage` grant. */
export function createFolder(
  deps: Deps,
  { caller, body, audit }: AuditedCall<User, unknown, NewFolder>,
): Promise<FolderRow> {
  const id = body.id ?? deps.newId();
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, actor } = await requireHeldMembership(tx, caller, managers);
    requireKeyVersion(body.key_version, 1);
    await requireRoom(tx, deps, "folders", orgId);
    const now = deps.now();
    await orConflict(insertFolder(tx, { id, orgId, name: body.name, now }), {
      folders_pkey: "this id is taken: make another one",
      folders_name_key: "a folder of this name exists",
    });
    const { userId } = caller;
    const key = { encryptedKey: body.encrypted_key, alg: "box-user" } as const;
    await insertFolderMember(tx, { folderId: id, userId, permission: "manage", key, now });
    const holders = await listHolders(tx, id, now);
    await appendEntry(tx, {
      res: folderRes(id),
      orgId,
      entry: body.entry,
      by: `user:${userId}`,
      founds: true,
      expected: () => ({ org: orgId, name: body.name, ver: 1, set: holders.map(folderHolder) }),
    });
    await enqueueAudit(tx, audit({ orgId, actor, target: { id, parent_id: orgId }, changes: { name: body.name } }));
    const folder = await getFolder(tx, id, userId);
    await publishFolderChange(tx, deps, { folderIds: [id], change: "metadata", updatedAt: folder.updated_at });
    return folder;
  });
}
