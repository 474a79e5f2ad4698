import { isUnderstood, memberships } from "@coffer/events";
import type { Deps } from "../deps.ts";
import {
  forgetContradicted,
  forgetVersions,
  greatestVersion,
  listOlder,
  hasVersionedMembership,
} from "../store/membership-copies.ts";
import { applyMemberships } from "./apply.ts";
import { suspendUnconfirmed } from "./suspend-unconfirmed.ts";

const timeoutMilliseconds = 10_000;

/**
 * Reconciles the copy with auth-sm's memberships: changes missed while the bus was away, or undone
 * by a restore of its database. A membership that is not listed is suspended, not removed: auth-sm
 * may run with the wrong database. Only a `removed` membership costs a member the vaults.
 * @returns false if auth-sm lists no membership although the copy has some; nothing changes then
 * @throws ServiceError `unavailable` if auth-sm or Postgres is away
 */
export async function reconcileMemberships(deps: Pick<Deps, "bus" | "database" | "newId" | "now">): Promise<boolean> {
  const listed = new Set<string>();
  const greatest = await greatestVersion(deps.database.pool);
  let asOf: number | undefined;
  for (let after: string | null | undefined; after !== null;) {
    const page: ReturnType<typeof memberships.received.parse> = await deps.bus.request(
      memberships,
      { after: after ?? null },
      { timeoutMilliseconds },
    );
    if (after === undefined && page.memberships.length === 0 && (await hasVersionedMembership(deps.database.pool)))
      return false;
    if (page.as_of < greatest) {
      // auth-sm's versions restarted below those of the copy. Drop the stored versions and start
      // over.
      await forgetVersions(deps.database.pool);
      return reconcileMemberships(deps);
    }
    for (const each of page.memberships) listed.add(keyOf(each));
    // Skips roles that only a newer version of vaults knows.
    const understood = page.memberships.filter(isUnderstood);
    await forgetContradicted(deps.database.pool, understood, page.as_of);
    await applyMemberships(deps, understood, { listed: true });
    asOf ??= page.as_of;
    after = page.after;
  }
  if (asOf !== undefined) await suspendMissing(deps, listed, asOf);
  return true;
}

/** Suspends memberships of the copy up to version `asOf` that auth-sm does not list. */
async function suspendMissing(
  deps: Pick<Deps, "database" | "newId" | "now">,
  listed: ReadonlySet<string>,
  asOf: number,
): Promise<void> {
  for (let after: { org_id: string; user_id: string } | undefined; ;) {
    const page = await listOlder(deps.database.pool, asOf, after);
    const missing = page.filter((each) => !listed.has(keyOf(each)));
    await suspendUnconfirmed(deps, missing, { forget: true });
    after = page.at(-1);
    if (after === undefined) return;
  }
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
