import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { retryOnConflict, type User } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import { requireLockedVault, requireVault, type UsableVault, vaultNotFound } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { busy } from "../errors.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { recomputeVisibility } from "../visibility/recompute.ts";
import { notifyViewers } from "../visibility/notify-viewers.ts";
import { lockPeople } from "../store/people.ts";
import { listMemberIds } from "../store/vaults/vault-members.ts";
import { changeVault, findMembersVault, type VaultRow, vaultState } from "../store/vaults/vaults.ts";
import type { VaultPath, VaultUpdate } from "./bodies.ts";
import { inOrg } from "./in-org.ts";
import { type VaultView, vaultView } from "./view.ts";

/** PATCH /api/vaults/{id} */
export function updateVault(deps: Deps, call: AuditedCall<User, VaultPath, VaultUpdate>): Promise<VaultView> {
  const { caller, params, body } = call;
  return retryOnConflict(
    () =>
      transactionInSession(deps, caller, async (tx) => {
        const changesFlag = body.safe_for_travel !== undefined;
        const lock = changesFlag ? lockWithMembers : lockAlone;
        const vault = await lock(tx, caller, params.id);
        if (vault === null) return null;
        const { orgId, actor } = vault;
        const before = await vaultState(tx, params.id);
        const name = body.name ?? before.name;
        const safeForTravel = body.safe_for_travel ?? before.safe_for_travel;
        if (name === before.name && safeForTravel === before.safe_for_travel) {
          return vaultView(await presentVault(tx, params.id, caller));
        }
        await appendEntry(tx, {
          caller,
          vaultId: params.id,
          entry: body.entry,
          expected: () => (name === before.name ? null : { name }),
        });
        const updated_at = await changeVault(tx, { id: params.id, name, safeForTravel, now: deps.now() });
        const visibility =
          safeForTravel === before.safe_for_travel
            ? []
            : await recomputeVisibility(tx, deps, { vaultIds: [params.id] });
        await notifyViewers(tx, deps, [{ id: params.id, updated_at }], visibility);
        await enqueueAudit(
          tx,
          call.audit({
            orgId,
            actor,
            target: inOrg(orgId),
            changes: changesOf(vault, before, { name, safe_for_travel: safeForTravel }),
          }),
        );
        return vaultView(await presentVault(tx, params.id, caller));
      }),
    busy,
  );
}

function lockAlone(tx: Transaction, caller: User, id: string): Promise<UsableVault> {
  return requireLockedVault(tx, caller, id, "manage");
}

/** Locks the members, then the vault; null if a member was added meanwhile. */
async function lockWithMembers(tx: Transaction, caller: User, id: string): Promise<UsableVault | null> {
  const { id: seenId } = await requireVault(tx, caller, id, "manage");
  const members = await listMemberIds(tx, seenId);
  await lockPeople(tx, members);
  const vault = await lockAlone(tx, caller, seenId);
  const present = await listMemberIds(tx, vault.id);
  return present.every((each) => members.includes(each)) ? vault : null;
}

async function presentVault(tx: Transaction, id: string, { userId }: User): Promise<VaultRow> {
  const row = await findMembersVault(tx, id, userId);
  if (row === null) throw vaultNotFound();
  return row;
}

/**
 * The changes for the audit. Others read the audit log, so names of personal vaults stay out of it.
 */
function changesOf(
  { type }: Pick<UsableVault, "type">,
  before: Pick<VaultRow, "name" | "safe_for_travel">,
  after: Pick<VaultRow, "name" | "safe_for_travel">,
): Record<string, string | boolean> {
  return {
    ...(after.name === before.name || type === "personal" ? {} : { name: after.name, previous_name: before.name }),
    ...(after.safe_for_travel === before.safe_for_travel ? {} : { safe_for_travel: after.safe_for_travel }),
  };
}
