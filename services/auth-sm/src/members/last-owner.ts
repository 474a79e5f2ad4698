import { type MemberStatus, type Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import { hasOtherOwner, type MemberRow } from "../store/organizations/members.ts";

/**
 * Refuses a change that leaves an organization without an active owner.
 * @param next the member's new state; null when the member is removed
 * @throws ServiceError `conflict`
 */
export async function requireAnOwner(
  tx: Transaction,
  orgId: string,
  present: MemberRow,
  next: { role: Role; status: MemberStatus } | null,
): Promise<void> {
  if (!isOwner(present) || (next !== null && isOwner(next))) return;
  if (await hasOtherOwner(tx, orgId, present.user_id)) return;
  throw new ServiceError("conflict", "an organization needs an owner: make another member an owner first");
}

function isOwner({ role, status }: { role: Role; status: MemberStatus }): boolean {
  return role === "owner" && status === "active";
}
