import { ServiceError } from "@coffer/errors";
import { membershipOf } from "@coffer/events";
import { sessionEnded, type User } from "@coffer/service/stateless";
import type { Deps } from "../deps.ts";
import type { Caller, Machine } from "./caller.ts";

/**
 * The organization in whose name the caller scans: the chosen one (`X-Coffer-Org`), or the oldest membership, or the machine's.
 * Null for a person without any, who may scan too.
 * @throws ServiceError `invalid_token` when the session has ended; `access_denied` when the caller is no active member of the
 *   organization, or a machine of another; `unavailable` when auth-sm does not answer
 */
export async function requireActingOrg(deps: Pick<Deps, "bus">, caller: Caller): Promise<string | null> {
  if (caller.kind === "machine") return orgOfMachine(caller);
  const answer = await deps.bus.request(membershipOf, questionOf(caller));
  if (!answer.session_active) throw sessionEnded();
  const { membership } = answer;
  if (membership === null) {
    if (caller.orgId === undefined) return null;
    throw new ServiceError("access_denied", "you are not a member of this organization");
  }
  if (membership.status !== "active")
    throw new ServiceError("access_denied", "your membership of this organization is suspended");
  return membership.org_id;
}

function orgOfMachine({ orgId, chosenOrgId = orgId }: Machine): string {
  if (chosenOrgId === orgId) return orgId;
  throw new ServiceError("access_denied", "this client belongs to another organization");
}

function questionOf({ userId, sessionId, orgId }: User) {
  return { user_id: userId, session_id: sessionId, ...(orgId === undefined ? {} : { org_id: orgId }) };
}
