import { ServiceError } from "@coffer/errors";
import { askMembershipInSession, requireActive } from "@coffer/service/stateless";
import type { Deps } from "../deps.ts";
import type { Caller, Machine } from "./caller.ts";

/**
 * The organization in whose name the caller scans: the chosen one (`X-Coffer-Org`), or the oldest
 * membership, or the machine's. Null for a person without any, who may scan too.
 * @throws ServiceError `invalid_token` when the session has ended; `access_denied` when the caller
 *   is no active member of the organization, or a machine of another; `unavailable` when auth-sm
 *   does not answer
 */
export async function requireActingOrg(deps: Pick<Deps, "bus">, caller: Caller): Promise<string | null> {
  if (caller.kind === "machine") return orgOfMachine(caller);
  const { membership } = await askMembershipInSession(deps.bus, caller);
  if (membership === null && caller.orgId === undefined) return null;
  return requireActive(membership).org_id;
}

function orgOfMachine({ orgId, chosenOrgId = orgId }: Machine): string {
  if (chosenOrgId === orgId) return orgId;
  throw new ServiceError("access_denied", "this client belongs to another organization");
}
