import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedFolder } from "../access/folder.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { getFolder, listHolders } from "../store/folders/folders.ts";
import { appendEntry } from "./append-entry.ts";
import type { NewEntry } from "@coffer/service";
import type { HistoryFolderPath } from "./bodies.ts";
import { folderHolder, folderRes } from "./resources.ts";
import { type StoredEntry, storedEntry } from "./view.ts";

/**
 * POST /api/org/folders/{id}/history
 * A manager adopts the folder (entry 0), or removes invitations.
 */
export function extendFolderHistory(
  deps: Deps,
  { caller, params, body, audit }: AuditedCall<User, HistoryFolderPath, NewEntry>,
): Promise<StoredEntry> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedFolder(tx, caller, params.id, { needed: "manage", lock: "grants" });
    const { orgId, actor, folderId, keyVersion } = reached;
    const { name } = await getFolder(tx, folderId, caller.userId);
    const setAmong = (await listHolders(tx, folderId, deps.now())).map(folderHolder);
    const state = await appendEntry(tx, {
      res: folderRes(folderId),
      orgId,
      entry: body.entry,
      by: `user:${caller.userId}`,
      founds: true,
      expected: (before) => (before === null ? { org: orgId, name, ver: keyVersion, setAmong } : {}),
    });
    const stored = storedEntry(state);
    await publishFolderChange(tx, deps, { folderIds: [folderId], change: "membership" });
    if (stored.history_seq > 0) return stored;
    await enqueueAudit(tx, audit({ orgId, actor, target: { parent_id: orgId } }));
    return stored;
  });
}
