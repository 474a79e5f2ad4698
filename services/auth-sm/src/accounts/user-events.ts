import type { AuditDraft } from "@coffer/events";
import { type AuditEntry, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { listUserOrgs } from "../store/organizations/orgs.ts";

/**
 * Records an event of a person: once in the audit chain of each of the person's organizations, or
 * in the person's own chain when there is none.
 */
export async function auditUserEvent(
  tx: Transaction,
  deps: Pick<Deps, "newId">,
  request: RequestContext,
  userId: string,
  entry: Omit<AuditEntry, "org_id">,
): Promise<void> {
  await auditInChains(tx, userId, (org_id) => auditOf(deps, request, { org_id, ...entry }));
}

/** Stores the record that `recordOf` makes for each chain of a person's events. */
export async function auditInChains(
  tx: Transaction,
  userId: string,
  recordOf: (orgId: string | null) => AuditDraft,
): Promise<void> {
  for (const orgId of await chainsOf(tx, userId)) await enqueueAudit(tx, recordOf(orgId));
}

/**
 * The organizations whose chains hold a person's events; `[null]`, the person's own chain, without
 * any.
 */
export async function chainsOf(db: Queryable, userId: string): Promise<(string | null)[]> {
  const orgs = await listUserOrgs(db, userId);
  return orgs.length === 0 ? [null] : orgs.map(({ id }) => id);
}
