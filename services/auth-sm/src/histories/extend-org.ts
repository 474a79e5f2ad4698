import { ServiceError } from "@coffer/errors";
import type { AuditRecord } from "@coffer/events";
import { type HistoryState, readEntry } from "@coffer/history";
import { auditOf, type Call } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMembersLocked } from "../access/members.ts";
import { type ActiveMembership, managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { listMemberKeys, type MemberKey } from "../store/organizations/members.ts";
import { getOrg } from "../store/organizations/orgs.ts";
import type { ExpectedChange, NewEntry } from "@coffer/service";
import { appendEntry } from "./append-entry.ts";
import { memberHolder, orgRes } from "./resources.ts";
import { type StoredEntry, storedEntry } from "./view.ts";

/**
 * So many entries of other histories an organization's history names of all former members
 * together. Each entry costs time by all of them, and nothing says of a name whether it is that of
 * a folder or vault.
 */
const mostCutNames = 20_000;

type ExtendCall = Call<User, unknown, NewEntry>;

/**
 * POST /api/org/history
 * Adopts the organization (entry 0), confirms members as the server lists them, and removes former
 * members and invitations.
 */
export function extendOrgHistory(deps: Deps, call: ExtendCall): Promise<StoredEntry> {
  const { caller, body } = call;
  return transactionInSession(deps, caller, async (tx) => {
    const membership = await requireMembersLocked(tx, caller, managers);
    const { orgId } = membership;
    const { name } = await getOrg(tx, orgId, deps.config.COFFER_BILLING);
    const members = await listMemberKeys(tx, orgId);
    let present: HistoryState | null = null;
    const state = await appendEntry(tx, {
      res: orgRes(orgId),
      orgId,
      entry: body.entry,
      by: `user:${caller.userId}`,
      founds: true,
      expected: (before) => {
        present = before;
        return changeOf(before, name, members);
      },
    });
    requireFewCutNames(present, state);
    await record(tx, deps, call, membership);
    return storedEntry(state);
  });
}

/** Refuses names of former members beyond the limit. The entry that removes a member may always name some. */
function requireFewCutNames(before: HistoryState | null, after: HistoryState | null): void {
  if (before === null || after === null || after.holders.length < before.holders.length) return;
  const [had, has] = [cutNamesIn(before), cutNamesIn(after)];
  if (has <= Math.max(had, mostCutNames)) return;
  const issue = `the organization's history may name ${mostCutNames} entries for its former members, and this would be ${has}`;
  throw new ServiceError("invalid_request", issue, { details: [{ field: "entry", issue }] });
}

function cutNamesIn({ former }: HistoryState): number {
  return former.reduce((count, { cut }) => count + Object.keys(cut).length, 0);
}

function changeOf(before: HistoryState | null, name: string, members: readonly MemberKey[]): ExpectedChange {
  const setAmong = members.map(memberHolder);
  if (before === null) return { name, setAmong };
  const present = new Set<string>(setAmong.map(({ who }) => who));
  return { setAmong, mayDrop: (who) => !present.has(who), cut: true };
}

/** Audits the adoption, or the confirmed and the dropped members. */
async function record(
  tx: Transaction,
  deps: Deps,
  { body, request }: ExtendCall,
  { orgId, actor }: ActiveMembership,
): Promise<void> {
  const { claims } = await readEntry(body.entry);
  const about = { org_id: orgId, actor, status: 201 } as const;
  if (claims.seq === 0) {
    const target = { type: "org", id: orgId };
    await enqueueAudit(tx, auditOf(deps, request, { ...about, action: "history.adopted", target }));
    return;
  }
  for (const { who, perm } of claims.set ?? []) {
    const changes = { permission: perm };
    const target = personTarget(orgId, who);
    await enqueueAudit(tx, auditOf(deps, request, { ...about, action: "history.trusted", target, changes }));
  }
  for (const who of (claims.drop ?? []).filter((one) => one.startsWith("user:"))) {
    const changes = { histories: Object.keys(claims.cut ?? {}).length };
    const target = personTarget(orgId, who);
    await enqueueAudit(tx, auditOf(deps, request, { ...about, action: "history.cut", target, changes }));
  }
}

function personTarget(orgId: string, who: string): AuditRecord["target"] {
  return { type: "user", id: who.slice("user:".length), parent_id: orgId };
}
