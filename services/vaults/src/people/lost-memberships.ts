import {
  isUnderstood,
  type LostMembership,
  lostMemberships,
  lostMembershipsKey,
  type Membership,
  mostNamed,
  namedMemberships,
} from "@coffer/events";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import { findOlder, type VersionedMembership } from "../store/membership-copies.ts";
import { batchOrSingly } from "./batch-or-singly.ts";
import { applyMemberships } from "./apply.ts";
import { suspendUnconfirmed } from "./suspend-unconfirmed.ts";

/** With the write by auth-sm and a request without an answer, a change is known within a second. */
const everyMilliseconds = 200;
const answerMilliseconds = 300;
/**
 * Short lock timeout, so that one locked vault does not delay other members. The next sweep
 * retries.
 */
const waitMilliseconds = 200;

type LostMembershipDeps = Pick<Deps, "bus" | "database" | "memberships" | "newId" | "now" | "redis">;

/**
 * Reads from Redis which memberships auth-sm has restricted while the bus is away. Redis is not
 * trusted: an entry only causes a request to auth-sm. Without a response the member is suspended
 * until auth-sm answers.
 */
export function lostMembershipsSweep(deps: LostMembershipDeps): Sweep {
  let last: string | null = null;
  return {
    everyMilliseconds,
    failure: "membership changes in Redis could not be applied; the bus delivers them later",
    batch: async () => {
      // Commands to a Redis that is away would queue.
      const text = deps.redis?.status === "ready" ? await deps.redis.get(lostMembershipsKey) : null;
      if (text !== null && text !== last) await confirm(deps, lostMemberships.parse(JSON.parse(text)));
      last = text;
      return false;
    },
  };
}

async function confirm(deps: LostMembershipDeps, entries: readonly LostMembership[]): Promise<void> {
  const doubted = await findOlder(deps.database.pool, entries);
  const parts = Array.from({ length: Math.ceil(doubted.length / mostNamed) }, (_, part) =>
    doubted.slice(part * mostNamed, (part + 1) * mostNamed),
  );
  const failures: unknown[] = [];
  for (const part of parts) await confirmPart(deps, part).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function confirmPart(deps: LostMembershipDeps, doubted: readonly VersionedMembership[]): Promise<void> {
  const listed = await requestNamed(deps, doubted);
  if (listed === null) {
    const refused = batchOrSingly(doubted, (some) => suspendUnconfirmed(deps, some, { waitMilliseconds }));
    await refused.finally(() => deps.memberships.catchUp());
    return;
  }
  const present = new Set(listed.map(keyOf));
  const missing = doubted.filter((each) => !present.has(keyOf(each)));
  await allSettled([
    batchOrSingly(missing, (some) => suspendUnconfirmed(deps, some, { waitMilliseconds })),
    batchOrSingly(listed, (some) => applyMemberships(deps, some, { listed: true, waitMilliseconds })),
  ]);
}

/** Waits for all, then throws the first failure. */
async function allSettled(works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}

/** These memberships as auth-sm has them; null without a valid response. */
async function requestNamed(
  { bus }: LostMembershipDeps,
  doubted: readonly VersionedMembership[],
): Promise<readonly Membership[] | null> {
  const named = doubted.map(({ org_id, user_id }) => ({ org_id, user_id }));
  try {
    const { memberships } = await bus.request(namedMemberships, { named }, { timeoutMilliseconds: answerMilliseconds });
    return memberships.filter(isUnderstood);
  } catch {
    return null;
  }
}

function keyOf({ org_id, user_id }: { org_id: string; user_id: string }): string {
  return `${org_id} ${user_id}`;
}
