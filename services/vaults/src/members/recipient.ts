import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { UsableVault } from "../access/vault.ts";
import { findMembership } from "../store/memberships.ts";

/**
 * Refuses to give the vault's key to who must not have it.
 * @returns false when the person is not known as a member of the vault's organization
 * @throws ServiceError `invalid_request` for a personal vault, `conflict` for a member who could not use the key
 */
export async function mayReceive(db: Queryable, { type, orgId }: UsableVault, userId: string): Promise<boolean> {
  if (type === "personal" || orgId === null) {
    throw new ServiceError("invalid_request", "a personal vault is not shared: make a shared one");
  }
  const member = await findMembership(db, userId, orgId);
  if (member === null) return false;
  if (member.status !== "active") {
    throw new ServiceError("conflict", "this member is suspended: nothing can be shared with the person");
  }
  if (member.role === "auditor") {
    throw new ServiceError("conflict", "this member is an auditor, who reads no ciphertext");
  }
  return true;
}
