import { ServiceError } from "@coffer/errors";
import type { Transaction } from "@coffer/postgres";
import type { MemberRow, MemberStatus } from "../store/members.ts";
import { hasOtherOwner } from "../store/members.ts";
import type { Role } from "../store/memberships.ts";

/**
 * Refuses to leave an organization without an owner who can act.
 * @param next what the member is to become; null when the member goes
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
  throw new ServiceError("conflict", "an organization always has an owner: make somebody else one first");
}

function isOwner({ role, status }: { role: Role; status: MemberStatus }): boolean {
  return role === "owner" && status === "active";
}
