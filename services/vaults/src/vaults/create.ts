import { ServiceError } from "@coffer/errors";
import type { HistoryState } from "@coffer/history";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { orConflict, type Transaction } from "@coffer/postgres";
import { type User, userActor } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireKeyVersion } from "./key-version.ts";
import { organizationOf, requireCreator } from "../access/organization.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { idTaken } from "../errors.ts";
import { momentOf } from "../moment.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { requireRoom } from "../members/require-room.ts";
import { lockPeople } from "../store/people.ts";
import { insertMember } from "../store/vaults/vault-members.ts";
import { insertVault, wasDeleted } from "../store/vaults/vaults.ts";
import type { NewVault } from "./bodies.ts";
import { inOrg } from "./in-org.ts";
import { newVaultView, type NewVaultView } from "./view.ts";

const taken = idTaken("vault");
const firstKeyVersion = 1;

/**
 * POST /api/vaults: the creator becomes its manager. While travelling they do not see it
 * afterwards.
 */
export async function createVault(
  deps: Deps,
  { caller, body, audit }: AuditedCall<User, unknown, NewVault>,
): Promise<NewVaultView> {
  const id = body.id ?? deps.newId();
  const chosen = await organizationOf(deps, caller);
  return transactionInSession(deps, caller, async (tx) => {
    await lockPeople(tx, [caller.userId]);
    const orgId = await requireCreator(tx, caller, chosen);
    if (orgId === null && body.type === "shared") {
      throw new ServiceError("invalid_request", "you belong to no organization: without one, vaults are personal");
    }
    requireKeyVersion(body.key_version, firstKeyVersion);
    const full = (most: number): string => `you belong to ${most} vaults, your quota: delete or leave some first`;
    await requireRoom(tx, deps, { userId: caller.userId, full });
    const now = deps.now();
    const { name, type, encrypted_key: encryptedKey } = body;
    await orConflict(insertVault(tx, { id, orgId, name, type, now }), { vaults_pkey: taken });
    // After the insert, which waits for a concurrent deletion of the vault with this id.
    if (await wasDeleted(tx, id)) throw new ServiceError("conflict", taken);
    const keyVersion = firstKeyVersion;
    const member = { vaultId: id, userId: caller.userId, permission: "manage", encryptedKey, keyVersion, now } as const;
    await insertMember(tx, member);
    const state = await foundHistory(tx, { caller, id, orgId, body });
    await recomputeVisibility(tx, deps, { vaultIds: [id] });
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor: userActor(caller),
        target: { id, ...inOrg(orgId) }, // The name of a personal vault stays out of the audit log, which others read.
        changes: { ...(type === "personal" ? {} : { name }), type },
      }),
    );
    return newVaultView({
      id,
      org_id: orgId,
      name,
      type,
      safe_for_travel: false,
      key_version: firstKeyVersion,
      history_seq: state?.head.seq ?? null,
      created_at: momentOf(now),
      permission: "manage",
      encrypted_key: encryptedKey,
      pin_version: null,
      pin_sealed: null,
      record_count: 0,
    });
  });
}

/** Begins the history of a shared vault if the creator signed a first entry. */
function foundHistory(
  tx: Transaction,
  { caller, id, orgId, body }: { caller: User; id: string; orgId: string | null; body: NewVault },
): Promise<HistoryState | null> {
  const { type, name, entry } = body;
  if (entry !== undefined && (type === "personal" || orgId === null))
    throw new ServiceError("invalid_request", "a personal vault has no history: send it without `entry`");
  return appendEntry(tx, {
    caller,
    vaultId: id,
    entry,
    founds: true,
    expected: () => ({
      ...(orgId === null ? {} : { org: orgId }),
      name,
      ver: firstKeyVersion,
      set: [{ who: `user:${caller.userId}`, perm: "manage" }],
    }),
  });
}
