import { ServiceError } from "@coffer/errors";
import { type HistoryState, holderOf } from "@coffer/history";
import type { AuditedCall, Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireKeyVersion } from "../vaults/key-version.ts";
import { requireLockedVault, requireVault, vaultNotFound } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import { listMemberIds } from "../store/vaults/vault-members.ts";
import { countRecords } from "../store/vaults/vault-removal.ts";
import { dropStaged, replaceKeys, resealFromStaged, resealRecords } from "../store/vaults/vault-rotation.ts";
import { findMembersVault, touchVaults } from "../store/vaults/vaults.ts";
import type { VaultPath } from "../vaults/bodies.ts";
import { inOrg } from "../vaults/in-org.ts";
import { type VaultView, vaultView } from "../vaults/view.ts";
import type { Rotation } from "./bodies.ts";

/**
 * POST /api/vaults/{id}/rotate: replaces the key of a vault, for exactly its present members and
 * records. A record that was written meanwhile is a `conflict`.
 */
export async function rotateVault(deps: Deps, call: AuditedCall<User, VaultPath, Rotation>): Promise<VaultView> {
  const { caller, params, body, audit } = call;
  const { id: vaultId } = await requireVault(deps.database.pool, caller, params.id, "manage");
  requireSealedForOthers(call);
  return transactionInSession(deps, caller, async (tx) => {
    const { id, orgId, actor, keyVersion } = await requireLockedVault(tx, caller, vaultId, "manage");
    requireKeyVersion(body.key_version, keyVersion);
    const members = await listMemberIds(tx, id);
    requireMembers(members, body.encrypted_keys.users);
    const next = keyVersion + 1;
    const state = await appendEntry(tx, {
      caller,
      vaultId: id,
      entry: body.entry,
      expected: () => ({ ver: next, mayDrop: (who) => !members.some((member) => who === `user:${member}`) }),
    });
    requireHolders(state, body.encrypted_keys.users);
    const now = deps.now();
    const count = await reseal(tx, { vaultId: id, userId: caller.userId }, body, now);
    await replaceKeys(tx, { vaultId: id, keyVersion: next }, body.encrypted_keys.users);
    await dropStaged(tx, id);
    await notifyViewers(tx, deps, await touchVaults(tx, [id], now), []);
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: inOrg(orgId),
        changes: { key_version: next, users: members.length },
        count,
      }),
    );
    const row = await findMembersVault(tx, id, caller.userId);
    if (row === null) throw vaultNotFound();
    return vaultView(row);
  });
}

/** Only the caller's own key may be sealed under a user key: no other member could open it. */
function requireSealedForOthers({ caller, body }: Call<User, VaultPath, Rotation>): void {
  body.encrypted_keys.users.forEach(({ user_id, encrypted_key: key }, index) => {
    if (key === null || key.includes(".") || user_id === caller.userId) return;
    const field = `encrypted_keys.users.${index}.encrypted_key`;
    throw new ServiceError("invalid_request", `${field} must be sealed to the person's public key`, {
      details: [{ field, issue: "not a compact JWE" }],
    });
  });
}

function requireMembers(present: readonly string[], sent: readonly { user_id: string }[]): void {
  const named = new Set(sent.map(({ user_id }) => user_id));
  if (named.size === present.length && present.every((id) => named.has(id))) return;
  throw new ServiceError("conflict", "the members of the vault have changed: list them and rotate again");
}

/** Refuses a key for a person that the signed history does not name. */
function requireHolders(
  state: HistoryState | null,
  sent: readonly { user_id: string; encrypted_key: string | null }[],
): void {
  const stranger = sent.find(
    ({ user_id, encrypted_key: key }) =>
      state !== null && key !== null && holderOf(state, `user:${user_id}`) === undefined,
  );
  if (stranger === undefined) return;
  const message = `the history does not name ${stranger.user_id} as a holder: send null for this person's key`;
  throw new ServiceError("invalid_request", message, { details: [{ field: "encrypted_keys", issue: message }] });
}

/** Reseals every record of the vault. Returns how many there are. */
async function reseal(
  tx: Transaction,
  { vaultId, userId }: { vaultId: string; userId: string },
  { records, rotation_id: rotationId }: Rotation,
  now: Date,
): Promise<number> {
  const count = await countRecords(tx, vaultId);
  const resealed =
    rotationId === undefined
      ? await resealRecords(tx, vaultId, records ?? [], now)
      : await resealFromStaged(tx, { vaultId, rotationId, userId }, now);
  const sent = rotationId === undefined ? (records ?? []).length : resealed;
  if (resealed === count && sent === count) return count;
  throw new ServiceError("conflict", "the records of the vault have changed: list them and rotate again");
}
