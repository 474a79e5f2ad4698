import { isUnderstood, memberships } from "@coffer/events";
import type { Deps } from "../deps.ts";
import {
  forgetContradicted,
  forgetVersions,
  greatestVersion,
  listOlder,
  someLast,
} from "../store/membership-copies.ts";
import { keepTold } from "./keep.ts";
import { suspendUntold } from "./suspend-untold.ts";

const timeoutMilliseconds = 10_000;

/**
 * Brings the copy of memberships to what auth-sm has: whatever was missed while the bus was away, and what is otherwise
 * since its database was restored to an earlier time. Who is missing there is suspended here: only auth-sm's own word of a
 * removal takes somebody's vaults, since a comparison may be with a database that is not the right one.
 * @returns false when auth-sm lists nobody at all though some are known here: that is not believed, and changes nothing
 * @throws ServiceError `unavailable` when auth-sm or Postgres cannot be asked
 */
export async function reconcileMemberships(deps: Pick<Deps, "bus" | "database" | "newId" | "now">): Promise<boolean> {
  const lasting = new Set<string>();
  const greatest = await greatestVersion(deps.database.pool);
  let asOf: number | undefined;
  for (let after: string | null | undefined; after !== null;) {
    const page: ReturnType<typeof memberships.received.parse> = await deps.bus.request(
      memberships,
      { after: after ?? null },
      { timeoutMilliseconds },
    );
    if (after === undefined && page.memberships.length === 0 && (await someLast(deps.database.pool))) return false;
    if (page.as_of < greatest) {
      // Versions have begun again below those of the copy, which says nothing of what is newer until it has forgotten them.
      // What was told since is in the pages that are asked for after that.
      await forgetVersions(deps.database.pool);
      return reconcileMemberships(deps);
    }
    for (const each of page.memberships) lasting.add(keyOf(each));
    // Who is there in a role that only a newer replica knows is left to it, as that one last wrote it down.
    const understood = page.memberships.filter(isUnderstood);
    await forgetContradicted(deps.database.pool, understood, page.as_of);
    await keepTold(deps, understood, { listed: true });
    asOf ??= page.as_of;
    after = page.after;
  }
  if (asOf !== undefined) await suspendMissing(deps, lasting, asOf);
  return true;
}

/** Suspends who is known, was there at `asOf` or before, and is not among those who are there. */
async function suspendMissing(
  deps: Pick<Deps, "database" | "newId" | "now">,
  lasting: ReadonlySet<string>,
  asOf: number,
): Promise<void> {
  for (let after: { org_id: string; user_id: string } | undefined; ;) {
    const page = await listOlder(deps.database.pool, asOf, after);
    const missing = page.filter((each) => !lasting.has(keyOf(each)));
    await suspendUntold(deps, missing, { forget: true });
    after = page.at(-1);
    if (after === undefined) return;
  }
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
