import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/postgres";
import { activeClient } from "../access/client.ts";
import { granted } from "../access/folder.ts";
import { auditOf } from "../audit.ts";
import type { Machine } from "../callers/machine.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { findJoiningClient, holdClient } from "../store/joining-clients.ts";
import { lockFolder } from "../store/folders.ts";
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
  { caller, params, body, request }: Call<Machine, HistoryFolderPath, NewEntry>,
): Promise<StoredEntry> {
  const { clientId, ip } = caller;
  return deps.database.transaction(async (tx) => {
    const joining = { clientId, folderId: params.id, ip, now: deps.now() };
    // Authorize before locking: a machine without a grant must not be able to block the folder.
    await holdClient(tx, clientId);
    const found = activeClient(caller, await findJoiningClient(tx, joining));
    granted(found.client, "read");
    await lockFolder(tx, { orgId: found.orgId, folderId: params.id }, "grants");
    const { orgId, actor, client } = activeClient(caller, await findJoiningClient(tx, joining));
    granted(client, "read");
    const { permission, public_key, token_hash: tag } = client;
    if (permission === null || tag === null) {
      throw new ServiceError("access_denied", "this client was not made with a one-time token that it could join with");
    }
    const state = await appendEntry(tx, {
      res: folderRes(params.id),
      orgId,
      entry: body.entry,
      by: `invite:${tag}`,
      expected: () => ({ set: [folderHolder({ kind: "client", id: clientId, public_key, permission })] }),
    });
    await publishFolderChange(tx, deps, { folderIds: [params.id], change: "membership" });
    await enqueueAudit(
      tx,
      auditOf(deps, request, {
        org_id: orgId,
        action: "history.joined",
        actor,
        target: { type: "folder", id: params.id, parent_id: orgId },
        status: 201,
        changes: { permission },
      }),
    );
    return storedEntry(state);
  });
}
