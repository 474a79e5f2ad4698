import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { requireKeyVersion } from "../folders/key-version.ts";
import { requireLockedFolder } from "../access/folder.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { holders } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import { requireRoom } from "../counts/require-room.ts";
import type { Deps } from "../deps.ts";
import { publishFolderChange } from "../folders/publish-change.ts";
import { appendHolder } from "../histories/append-holder.ts";
import { folderHolder, folderRes } from "../histories/resources.ts";
import { hasClientGrant, lockApplicationClient, upsertClientGrant } from "../store/machines/application-clients.ts";
import { holdApplication } from "../store/machines/applications.ts";
import type { GrantBody, GrantPath } from "./bodies.ts";

export interface GrantView {
  client_id: string;
  folder_id: string;
  permission: "read" | "write";
  key_version: number;
  added_at: string;
}

/** PUT /api/org/applications/{id}/clients/{client_id}/folders/{folder_id} */
export function grantFolder(
  deps: Deps,
  { caller, params, body, request, audit }: AuditedCall<User, GrantPath, GrantBody>,
): Promise<GrantView> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: holders, lock: holdApplication });
    const { orgId, actor, application } = reached;
    const now = deps.now();
    const client = await lockApplicationClient(tx, { applicationId: application.id, clientId: params.client_id, now });
    if (client === null) throw new ServiceError("not_found", "client not found");
    const folder = await requireLockedFolder(tx, caller, params.folder_id, { needed: "manage", lock: "grants" });
    if (client.revoked || client.expired) {
      throw new ServiceError("conflict", "the client is revoked or expired: nothing can be granted to it");
    }
    requireKeyVersion(body.key_version, folder.keyVersion);
    const { id, public_key } = client;
    const wasGranted = await hasClientGrant(tx, id, folder.folderId);
    if (!wasGranted) await requireRoom(tx, deps, "grants", id);
    await appendHolder(tx, deps, {
      res: folderRes(folder.folderId),
      orgId,
      entry: body.entry,
      signerId: caller.userId,
      holder: folderHolder({ kind: "client", id, public_key, permission: body.permission }),
      wasGranted,
      actor,
      request,
    });
    const grant = await upsertClientGrant(tx, {
      clientId: client.id,
      folderId: folder.folderId,
      permission: body.permission,
      encryptedKey: body.encrypted_key,
      now,
    });
    await publishFolderChange(tx, deps, { folderIds: [folder.folderId], change: "membership" });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        changes: { folder_id: folder.folderId, permission: grant.permission, key_version: folder.keyVersion },
      }),
    );
    return { client_id: client.id, folder_id: folder.folderId, key_version: folder.keyVersion, ...grant };
  });
}
