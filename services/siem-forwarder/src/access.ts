import { ServiceError } from "@coffer/errors";
import { askMembership, askMembershipInSession, requireActive, type User } from "@coffer/service";
import type { Deps } from "./deps.ts";
import { hasSiem } from "./plans/plans.ts";

const readers: readonly string[] = ["owner", "admin", "auditor"];
const managers: readonly string[] = ["owner", "admin"];

/**
 * The organization whose audit the caller may read: the chosen one (`X-Coffer-Org`), or the oldest
 * membership.
 * @throws ServiceError `invalid_token` when the session has ended; `not_found` when the caller has
 *   no organization at all; `access_denied` when the caller is not an active member of it or has
 *   none of the roles; `unavailable` when auth-sm does not answer
 */
export function requireAuditReader(deps: Pick<Deps, "bus">, caller: User): Promise<string> {
  return requireRole(deps, caller, readers);
}

/**
 * The organization whose SIEM endpoints the caller may list.
 * @throws as `requireAuditReader`; ServiceError `plan_required` when the plan of the organization has no SIEM
 */
export async function requireSiemReader(deps: Pick<Deps, "bus" | "plans">, caller: User): Promise<string> {
  return requirePlan(deps, await requireRole(deps, caller, readers));
}

/**
 * The organization whose SIEM endpoints the caller may change and test.
 * @throws as `requireSiemReader`
 */
export async function requireSiemManager(deps: Pick<Deps, "bus" | "plans">, caller: User): Promise<string> {
  return requirePlan(deps, await requireRole(deps, caller, managers));
}

/**
 * The organization in which the caller acts, for the record of a refusal; null when the caller is
 * no member of it.
 */
export async function actingOrg(deps: Pick<Deps, "bus">, caller: User): Promise<string | null> {
  const { membership } = await askMembership(deps.bus, caller);
  return membership?.status === "active" ? membership.org_id : null;
}

async function requireRole(deps: Pick<Deps, "bus">, caller: User, roles: readonly string[]): Promise<string> {
  const answer = await askMembershipInSession(deps.bus, caller);
  if (!answer.has_organization)
    throw new ServiceError("not_found", "you belong to no organization: create one, or accept an invitation to one");
  const membership = requireActive(answer.membership);
  if (!roles.includes(membership.role)) {
    throw new ServiceError("access_denied", `this needs the role ${roles.join(" or ")}; yours is ${membership.role}`);
  }
  return membership.org_id;
}

async function requirePlan({ plans }: Pick<Deps, "plans">, orgId: string): Promise<string> {
  const plan = (await plans.of([orgId])).get(orgId);
  if (hasSiem(plan)) return orgId;
  throw new ServiceError("plan_required", "SIEM endpoints need the plan business or enterprise");
}
