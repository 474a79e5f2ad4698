import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireJoiningClient } from "../access/joining-client.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { appendEntry } from "./append-entry.ts";
import type { NewEntry } from "@coffer/service";
import type { HistoryFolderPath } from "./bodies.ts";
import { folderHolder, folderRes } from "./resources.ts";
import { type StoredEntry, storedEntry } from "./view.ts";

/**
 * POST /api/sm/v1/folders/{id}/history
 * A machine joins a folder's history with the invitation of its one-time token, its own key and its
 * permission.
 */
export function joinFolderHistory(
  deps: Deps,
  { caller, params, body, audit }: AuditedCall<Machine, HistoryFolderPath, NewEntry>,
): Promise<StoredEntry> {
  return deps.database.transaction(async (tx) => {
    const { orgId, actor, publicKey, tokenHash, permission } = await requireJoiningClient(tx, deps, caller, params.id);
    const holder = folderHolder({ kind: "client", id: caller.clientId, public_key: publicKey, permission });
    const state = await appendEntry(tx, {
      res: folderRes(params.id),
      orgId,
      entry: body.entry,
      by: `invite:${tokenHash}`,
      expected: () => ({ set: [holder] }),
    });
    await publishFolderChange(tx, deps, { folderIds: [params.id], change: "membership" });
    await enqueueAudit(tx, audit({ orgId, actor, target: { parent_id: orgId }, changes: { permission } }));
    return storedEntry(state);
  });
}
