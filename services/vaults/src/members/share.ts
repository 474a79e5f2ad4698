import type { Permission } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import { holderOf } from "@coffer/history";
import { type AuditedCall, auditOf, type Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireKeyVersion } from "../vaults/key-version.ts";
import { requireLockedVault, requireVault, type UsableVault } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import { lockPeople } from "../store/people.ts";
import { findPermission, upsertMember } from "../store/vaults/vault-members.ts";
import { touchVaults } from "../store/vaults/vaults.ts";
import type { VaultMemberBody, VaultMemberPath } from "./bodies.ts";
import { requireAnotherManager } from "./last-manager.ts";
import { mayReceive } from "./recipient.ts";
import { requireRoom } from "./require-room.ts";

/** A member of a vault. */
export interface VaultMemberView {
  user_id: string;
  permission: Permission;
  key_version: number;
  added_at: string;
}

/**
 * PUT /api/vaults/{id}/members/{user_id}: adds a member with the key, or changes the permission.
 */
export async function shareVault(
  deps: Deps,
  call: AuditedCall<User, VaultMemberPath, VaultMemberBody>,
): Promise<VaultMemberView> {
  const { caller, body, request } = call;
  const { user_id: userId } = call.params;
  const { id: vaultId } = await requireKnown(deps, call);
  return transactionInSession(deps, caller, async (tx) => {
    await lockPeople(tx, [userId]);
    const vault = await requireLockedVault(tx, caller, vaultId, "manage");
    const { id, orgId, actor, keyVersion } = vault;
    if (!(await mayReceive(tx, vault, userId))) throw memberNotFound();
    requireKeyVersion(body.key_version, keyVersion);
    const { permission, encrypted_key: encryptedKey } = body;
    const before = await findPermission(tx, id, userId);
    const full = (most: number): string => `this member belongs to ${most} vaults, a quota: they must leave some first`;
    if (before === null) await requireRoom(tx, deps, { userId, full });
    if (before === "manage" && permission !== "manage") await requireAnotherManager(tx, id, userId);
    const who = `user:${userId}` as const;
    const state = await appendEntry(tx, {
      caller,
      vaultId: id,
      entry: body.entry,
      expected: () => ({ set: [{ who, perm: permission }] }),
      // Any manager may seal a missing key for a holder. The service does not know the holder's
      // key.
      optional: (history) => holderOf(history, who)?.perm === permission,
    });
    const added_at = await upsertMember(tx, {
      vaultId: id,
      userId,
      permission,
      encryptedKey,
      keyVersion,
      now: deps.now(),
    });
    const visibility = await recomputeVisibility(tx, deps, { vaultIds: [id], userIds: [userId] });
    await notifyViewers(tx, deps, await touchVaults(tx, [id], deps.now()), visibility);
    await enqueueAudit(
      tx,
      call.audit({
        orgId,
        actor,
        changes: { permission, key_version: keyVersion, ...(before === null ? {} : { previous_permission: before }) },
      }),
    );
    if (state !== null && body.entry !== undefined && before === permission) {
      const about = { org_id: orgId, action: "history.trusted", actor, status: 200 } as const;
      const target = { type: "user", id: userId, parent_id: id };
      await enqueueAudit(tx, auditOf(deps, request, { ...about, target, changes: { permission } }));
    }
    return { user_id: userId, permission, key_version: keyVersion, added_at };
  });
}

/**
 * Authorizes before any lock, and refreshes the copy of memberships if it does not know the person.
 */
async function requireKnown(deps: Deps, { caller, params }: Call<User, VaultMemberPath>): Promise<UsableVault> {
  const { pool } = deps.database;
  const vault = await requireVault(pool, caller, params.id, "manage");
  if (await mayReceive(pool, vault, params.user_id)) return vault;
  await deps.memberships.refresh();
  if (!(await mayReceive(pool, vault, params.user_id))) throw memberNotFound();
  return vault;
}

function memberNotFound(): ServiceError {
  return new ServiceError("not_found", "member not found");
}
