import type { RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { type Queryable, type Transaction } from "@coffer/postgres";
import { type AuditEntry, auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { listUserOrgs } from "../store/orgs.ts";

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
  for (const orgId of await chainsOf(tx, userId))
    await enqueueAudit(tx, auditOf(deps, request, { org_id: orgId, ...entry }));
}

/**
 * The organizations whose chains hold a person's events; `[null]`, the person's own chain, without
 * any.
 */
export async function chainsOf(db: Queryable, userId: string): Promise<(string | null)[]> {
  const orgs = await listUserOrgs(db, userId);
  return orgs.length === 0 ? [null] : orgs.map(({ id }) => id);
}
