import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
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
  const orgs: (string | null)[] = (await listUserOrgs(tx, userId)).map(({ id }) => id);
  if (orgs.length === 0) orgs.push(null);
  for (const orgId of orgs) await enqueueAudit(tx, auditOf(deps, request, { org_id: orgId, ...entry }));
}
