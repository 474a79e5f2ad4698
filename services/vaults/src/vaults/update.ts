import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { User } from "@coffer/service";
import { asJudged, auditOf } from "@coffer/service";
import { transactionInSession } from "../access/in-session.ts";
import type { UsableVault } from "../access/vault.ts";
import { requireLockedVault, requireVault, vaultNotFound } from "../access/vault.ts";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { settleSights } from "../sights/settle.ts";
import { tellChanged } from "../sights/tell-changed.ts";
import { lockPeople } from "../store/people.ts";
import { listMemberIds } from "../store/vault-members.ts";
import type { VaultRow } from "../store/vaults.ts";
import { changeVault, findMembersVault, vaultState } from "../store/vaults.ts";
import type { VaultPath, VaultUpdate } from "./bodies.ts";
import { vaultTarget } from "./target.ts";
import type { VaultView } from "./view.ts";
import { vaultView } from "./view.ts";

/** PATCH /api/vaults/{id} */
export function updateVault(deps: Deps, call: Call<User, VaultPath, VaultUpdate>): Promise<VaultView> {
  const { caller, params, body } = call;
  return asJudged(
    () =>
      transactionInSession(deps, caller, async (tx) => {
        const flagged = body.safe_for_travel !== undefined;
        const lock = flagged ? lockWithMembers : lockAlone;
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
        const sights =
          safeForTravel === before.safe_for_travel ? [] : await settleSights(tx, deps, { vaultIds: [params.id] });
        await tellChanged(tx, deps, [{ id: params.id, updated_at }], sights);
        await enqueueAudit(
          tx,
          auditOf(deps, call.request, {
            org_id: orgId,
            action: "vault.updated",
            actor,
            target: vaultTarget(params.id, orgId),
            status: 200,
            changes: changesOf(vault, before, { name, safe_for_travel: safeForTravel }),
          }),
        );
        return vaultView(await presentVault(tx, params.id, caller));
      }),
    "the members of this vault keep changing; try again",
  );
}

/** The right to manage the vault, locked. */
function lockAlone(tx: Transaction, caller: User, id: string): Promise<UsableVault> {
  return requireLockedVault(tx, caller, id, "manage");
}

/** The same, with all its members locked too; null when somebody became one meanwhile. */
async function lockWithMembers(tx: Transaction, caller: User, id: string): Promise<UsableVault | null> {
  await requireVault(tx, caller, id, "manage");
  const members = await listMemberIds(tx, id);
  await lockPeople(tx, members);
  const vault = await lockAlone(tx, caller, id);
  const present = await listMemberIds(tx, id);
  return present.every((each) => members.includes(each)) ? vault : null;
}

/** The vault as the caller, who has just been found to be its member, is told of it. */
async function presentVault(tx: Transaction, id: string, { userId }: User): Promise<VaultRow> {
  const row = await findMembersVault(tx, id, userId);
  if (row === null) throw vaultNotFound();
  return row;
}

/** What became of it, for the audit; of a personal vault not its names, since others read that. */
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
