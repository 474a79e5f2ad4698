import type { Membership } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { findMemberships } from "../store/organizations/members.ts";

/** The current state of these memberships; ended ones are left out. */
export async function listNamedMemberships(
  { database }: Pick<Deps, "database">,
  named: readonly Pick<Membership, "org_id" | "user_id">[],
): Promise<{ memberships: Membership[] }> {
  return { memberships: [...(await findMemberships(database.pool, named))] };
}
