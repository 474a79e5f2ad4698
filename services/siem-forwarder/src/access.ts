import { ServiceError } from "@coffer/errors";
import { membershipOf } from "@coffer/events";
import type { User } from "@coffer/service";
import type { Deps } from "./deps.ts";

const readers: readonly string[] = ["owner", "admin", "auditor"];

/**
 * The organization whose audit the caller may read: the chosen one (`X-Coffer-Org`), or the oldest membership.
 * @throws ServiceError `invalid_token` when the session has ended; `not_found` when the caller has no organization at
 *   all; `access_denied` when the caller is not an active member of it or has none of the roles; `unavailable` when
 *   nobody can be asked
 */
export async function requireAuditReader(deps: Pick<Deps, "bus">, { userId, sessionId, orgId }: User): Promise<string> {
  const answer = await deps.bus.request(membershipOf, {
    user_id: userId,
    session_id: sessionId,
    ...(orgId === undefined ? {} : { org_id: orgId }),
  });
  if (!answer.session_active) throw new ServiceError("invalid_token", "the session has ended: log in again");
  if (!answer.has_organization)
    throw new ServiceError("not_found", "you belong to no organization: create one, or accept an invitation to one");
  const { membership } = answer;
  if (membership === null) {
    throw new ServiceError("access_denied", "you are not a member of this organization");
  }
  if (membership.status !== "active") {
    throw new ServiceError("access_denied", "your membership of this organization is suspended");
  }
  if (!readers.includes(membership.role)) {
    throw new ServiceError("access_denied", `this needs the role ${readers.join(" or ")}; yours is ${membership.role}`);
  }
  return membership.org_id;
}
