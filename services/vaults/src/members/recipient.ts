import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { UsableVault } from "../access/vault.ts";
import { findMembership } from "../store/memberships.ts";

/**
 * Refuses to share the vault with a person who may not use its key.
 * @returns false if the copy does not know the person as a member of the vault's organization
 * @throws ServiceError `invalid_request` for a personal vault, `conflict` for a suspended member or
 *   an auditor
 */
export async function mayReceive(db: Queryable, { type, orgId }: UsableVault, userId: string): Promise<boolean> {
  if (type === "personal" || orgId === null) {
    throw new ServiceError("invalid_request", "a personal vault cannot be shared: create a shared vault");
  }
  const member = await findMembership(db, userId, orgId);
  if (member === null) return false;
  if (member.status !== "active") {
    throw new ServiceError("conflict", "this member is suspended: the vault cannot be shared with them");
  }
  if (member.role === "auditor") {
    throw new ServiceError("conflict", "this member is an auditor: auditors cannot read vaults");
  }
  return true;
}
