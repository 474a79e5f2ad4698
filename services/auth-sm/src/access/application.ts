import type { Role } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { Queryable, Transaction } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import { type ApplicationRow, findApplication } from "../store/machines/applications.ts";
import { type ActiveMembership, requireHeldMembership, requireMembership } from "./membership.ts";

export interface ReachedApplication extends ActiveMembership {
  application: ApplicationRow;
}

/**
 * An application that a caller with one of the `allowed` roles may read.
 * @throws ServiceError `not_found` when the organization has no application with this id, and what
 * `requireMembership` throws
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
 * An application that the caller may change.
 * @param lock reads the application with a lock
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
