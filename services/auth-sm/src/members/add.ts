import type { Role } from "@coffer/contract";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { findMember, insertMembership } from "../store/members.ts";
import { drawMembershipVersion } from "../store/membership-versions.ts";
import { publishMembership } from "./publish.ts";

/**
 * Makes a person an active member of an organization whose members are locked. Returns false when
 * the person is a member already.
 */
export async function addMember(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "now">,
  { orgId, userId, role }: { orgId: string; userId: string; role: Role },
): Promise<boolean> {
  const version = await drawMembershipVersion(tx);
  if (!(await insertMembership(tx, { orgId, userId, role, version, now: deps.now() }))) return false;
  const member = await findMember(tx, orgId, userId);
  if (member === null) throw new Error("a membership is gone in the transaction that made it");
  await publishMembership(tx, deps, { org_id: orgId, ...member, version });
  return true;
}
