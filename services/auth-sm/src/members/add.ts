import type { Role } from "@coffer/contract";
import type { Transaction } from "@coffer/postgres";
import { requireRoom } from "../counts/require-room.ts";
import type { Deps } from "../deps.ts";
import { findMember, insertMembership } from "../store/organizations/members.ts";
import { drawMembershipVersion } from "../store/organizations/membership-versions.ts";
import { publishMembership } from "./publish.ts";

/**
 * Makes a person an active member of an organization whose members are locked. Returns false when
 * the person is a member already.
 * @throws ServiceError `quota_exceeded` when the person belongs to too many organizations
 */
export async function addMember(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now" | "telemetry">,
  { orgId, userId, role }: { orgId: string; userId: string; role: Role },
): Promise<boolean> {
  await requireRoom(tx, deps, "organizations", userId);
  const version = await drawMembershipVersion(tx);
  if (!(await insertMembership(tx, { orgId, userId, role, version, now: deps.now() }))) return false;
  const member = await findMember(tx, orgId, userId);
  if (member === null) throw new Error("a membership is gone in the transaction that made it");
  await publishMembership(tx, deps, { org_id: orgId, ...member, version });
  return true;
}
