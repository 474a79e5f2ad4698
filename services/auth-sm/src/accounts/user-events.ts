import type { RequestContext } from "@coffer/http";
import type { Queryable, Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import type { AuditEntry } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { listUserOrgs } from "../store/orgs.ts";

/**
 * Records something that happened to a person: once in the chain of each of the person's organizations, or, without
 * one, in the person's own.
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

/** The organizations in whose chains a person's events are; null stands for the person's own, without any. */
export async function chainsOf(db: Queryable, userId: string): Promise<(string | null)[]> {
  const orgs = await listUserOrgs(db, userId);
  return orgs.length === 0 ? [null] : orgs.map(({ id }) => id);
}
