import { memberships } from "@coffer/events";
import type { Membership } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { forgetContradicted, forgetVersions, greatestVersion, listOlder } from "../store/membership-copies.ts";
import { keepTold } from "./keep.ts";

const timeoutMilliseconds = 10_000;

/**
 * Brings the copy of memberships to what auth-sm has: whatever was missed while the bus was away, and what is no more since
 * its database was restored to an earlier time.
 * @throws ServiceError `unavailable` when auth-sm or Postgres cannot be asked
 */
export async function reconcileMemberships(deps: Pick<Deps, "bus" | "database" | "newId" | "now">): Promise<void> {
  const lasting = new Set<string>();
  const greatest = await greatestVersion(deps.database.pool);
  let asOf: number | undefined;
  for (let after: string | null | undefined; after !== null;) {
    const page: ReturnType<typeof memberships.output.parse> = await deps.bus.request(
      memberships,
      { after: after ?? null },
      { timeoutMilliseconds },
    );
    if (page.as_of < greatest) {
      // Versions have begun again below those of the copy, which says nothing of what is newer until it has forgotten them.
      // What was told since is in the pages that are asked for after that.
      await forgetVersions(deps.database.pool);
      return reconcileMemberships(deps);
    }
    for (const each of page.memberships) lasting.add(keyOf(each));
    await forgetContradicted(deps.database.pool, page.memberships, page.as_of);
    await keepTold(deps, page.memberships);
    asOf ??= page.as_of;
    after = page.after;
  }
  if (asOf !== undefined) await endMissing(deps, lasting, asOf);
}

/** Ends what is known, was there at `asOf` or before, and does not last any more. */
async function endMissing(
  deps: Pick<Deps, "database" | "newId" | "now">,
  lasting: ReadonlySet<string>,
  asOf: number,
): Promise<void> {
  for (let after: { org_id: string; user_id: string } | undefined; ;) {
    const page = await listOlder(deps.database.pool, asOf, after);
    const missing = page.filter((each) => !lasting.has(keyOf(each)));
    // A removal has a version of its own, which was told and missed: this one is between the two.
    const ended = missing.map((each): Membership => ({ ...each, status: "removed", version: asOf }));
    await keepTold(deps, ended);
    after = page.at(-1);
    if (after === undefined) return;
  }
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
