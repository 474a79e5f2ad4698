import { ServiceError } from "@coffer/errors";
import type { Queryable } from "@coffer/postgres";
import type { User } from "../callers/user.ts";
import type { ApplicationRow } from "../store/applications.ts";
import type { Role } from "../store/memberships.ts";
import type { ActiveMembership } from "./membership.ts";
import { requireMembership } from "./membership.ts";

/** An application of the organization in which the caller acts. */
export interface ReachedApplication extends ActiveMembership {
  application: ApplicationRow;
}

/**
 * An application that the caller may reach with one of the `allowed` roles.
 * @param read how to read it: locked, held, or as it is
 * @throws ServiceError `not_found` when the organization has none with this id, and what `requireMembership` throws.
 */
export async function requireApplication(
  db: Queryable,
  caller: User,
  id: string,
  {
    allowed,
    read,
  }: {
    allowed: readonly Role[];
    read: (db: Queryable, orgId: string, id: string) => Promise<ApplicationRow | null>;
  },
): Promise<ReachedApplication> {
  const membership = await requireMembership(db, caller, allowed);
  const application = await read(db, membership.orgId, id);
  if (application === null) throw new ServiceError("not_found", "application not found");
  return { ...membership, application };
}
