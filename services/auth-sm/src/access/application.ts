import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import type { ApplicationRow } from "../store/applications.ts";
import { findApplication } from "../store/applications.ts";
import type { Role } from "../store/memberships.ts";
import type { ActiveMembership } from "./membership.ts";
import { requireHeldMembership, requireMembership } from "./membership.ts";

/** An application of the organization in which the caller acts. */
export interface ReachedApplication extends ActiveMembership {
  application: ApplicationRow;
}

/**
 * An application that the caller may reach with one of the `allowed` roles, for what only reads.
 * @throws ServiceError `not_found` when the organization has none with this id, and what `requireMembership` throws.
 */
export async function requireApplication(
  db: Queryable,
  caller: User,
  id: string,
  allowed: readonly Role[],
): Promise<ReachedApplication> {
  const membership = await requireMembership(db, caller, allowed);
  return reached(membership, await findApplication(db, membership.orgId, id));
}

/**
 * The same for what writes.
 * @param lock how to read it: locked or held
 */
export async function requireLockedApplication(
  tx: Transaction,
  caller: User,
  id: string,
  {
    allowed,
    lock,
  }: {
    allowed: readonly Role[];
    lock: (tx: Queryable, orgId: string, id: string) => Promise<ApplicationRow | null>;
  },
): Promise<ReachedApplication> {
  const membership = await requireHeldMembership(tx, caller, allowed);
  const application = await lock(tx, membership.orgId, id);
  return reached(membership, application);
}

function reached(membership: ActiveMembership, application: ApplicationRow | null): ReachedApplication {
  if (application === null) throw new ServiceError("not_found", "application not found");
  return { ...membership, application };
}
