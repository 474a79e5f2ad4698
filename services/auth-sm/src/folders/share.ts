import type { Permission } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { requireLockedFolder } from "../access/folder.ts";
import { requireKeyVersion } from "./key-version.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { holders } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { appendHolder } from "../histories/append-holder.ts";
import { folderHolder, folderRes } from "../histories/resources.ts";
import { revokeIssuedTokens } from "../members/revoke-offers.ts";
import { findMemberGrant, upsertMemberGrant } from "../store/folders/folder-grants.ts";
import { findMember, listMemberKeys } from "../store/organizations/members.ts";
import type { FolderMember, FolderMemberPath } from "./bodies.ts";
import { requireAnotherManager } from "./last-manager.ts";
import { publishFolderChange } from "./publish-change.ts";

export interface FolderMemberView {
  user_id: string;
  permission: Permission;
  key_version: number;
  added_at: string;
}

/**
 * PUT /api/org/folders/{id}/members/{user_id}
 * Gives a member the folder with its key, or changes the permission.
 */
export function shareFolder(
  deps: Deps,
  { caller, params, body, request, audit }: AuditedCall<User, FolderMemberPath, FolderMember>,
): Promise<FolderMemberView> {
  const { user_id: userId } = params;
  return transactionInSession(deps, caller, async (tx) => {
    const wanted = { needed: "manage", lock: "grants", others: [userId] } as const;
    const { orgId, actor, folderId, keyVersion } = await requireLockedFolder(tx, caller, params.id, wanted);
    const publicKey = await requireHolder(tx, orgId, userId);
    requireKeyVersion(body.key_version, keyVersion);
    const { permission, encrypted_key: encryptedKey } = body;
    const before = await findMemberGrant(tx, folderId, userId);
    if (before?.permission === "manage" && permission !== "manage") {
      await requireAnotherManager(tx, folderId, userId);
      const by = { orgId, userId, reason: "grant_removed", actor, request, status: 200 };
      await revokeIssuedTokens(tx, deps, by, folderId);
    }
    await appendHolder(tx, deps, {
      res: folderRes(folderId),
      orgId,
      entry: body.entry,
      signerId: caller.userId,
      holder: folderHolder({ kind: "user", id: userId, public_key: publicKey, permission }),
      wasGranted: before !== null,
      actor,
      request,
    });
    const grant = await upsertMemberGrant(tx, { folderId, userId, permission, encryptedKey, now: deps.now() });
    await publishFolderChange(tx, deps, { folderIds: [folderId], change: "membership" });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        changes: {
          permission,
          key_version: keyVersion,
          ...(before === null ? {} : { previous_permission: before.permission }),
        },
      }),
    );
    return { user_id: userId, permission: grant.permission, key_version: keyVersion, added_at: grant.added_at };
  });
}

/** The public key of a member who can use a grant. Refuses any other person. */
async function requireHolder(tx: Transaction, orgId: string, userId: string): Promise<string> {
  const member = await findMember(tx, orgId, userId);
  const [key] = await listMemberKeys(tx, orgId, [userId]);
  if (member === null || key === undefined) throw new ServiceError("not_found", "member not found");
  if (member.status !== "active") {
    throw new ServiceError("conflict", "this member is suspended: nothing can be granted to the person");
  }
  if (!holders.includes(member.role)) {
    throw new ServiceError("conflict", `this member is an ${member.role}, who reads no ciphertext`);
  }
  return key.public_key;
}
