import type { LostMembership, Membership } from "@coffer/events";
import { isUnderstood, lostMemberships, lostMembershipsKey, mostNamed, namedMemberships } from "@coffer/events";
import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { SeenMembership } from "../store/membership-copies.ts";
import { findOlder } from "../store/membership-copies.ts";
import { eachByItself } from "./each-by-itself.ts";
import { keepTold } from "./keep.ts";
import { suspendUntold } from "./suspend-untold.ts";

/**
 * With what auth-sm takes to write it, and what may go by without an answer, a change is known here within a second, with
 * some to spare.
 */
const everyMilliseconds = 200;
const answerMilliseconds = 300;
/** How long somebody's vaults may be held by others, while whoever is named besides waits behind. The next turn tries again. */
const waitMilliseconds = 200;

type HearingDeps = Pick<Deps, "bus" | "database" | "memberships" | "newId" | "now" | "redis">;

/**
 * Hears from Redis who has lost something that auth-sm could not tell over the bus yet. Redis may be written by others than
 * auth-sm: nothing is taken from it but whom to ask about. While nobody answers they are refused, and asked about until
 * somebody does.
 */
export function waitingMembershipsSweep(deps: HearingDeps): Sweep {
  let heard: string | null = null;
  return {
    everyMilliseconds,
    failure: "changes of memberships that wait in Redis could not be kept; the bus brings them",
    batch: async () => {
      // One that is away has nothing; commands would pile up until it is back.
      const text = deps.redis?.status === "ready" ? await deps.redis.get(lostMembershipsKey) : null;
      if (text !== null && text !== heard) await hear(deps, lostMemberships.parse(JSON.parse(text)));
      heard = text;
      return false;
    },
  };
}

async function hear(deps: HearingDeps, entries: readonly LostMembership[]): Promise<void> {
  const doubted = await findOlder(deps.database.pool, entries);
  const parts = Array.from({ length: Math.ceil(doubted.length / mostNamed) }, (_, part) =>
    doubted.slice(part * mostNamed, (part + 1) * mostNamed),
  );
  const failures: unknown[] = [];
  for (const part of parts) await judge(deps, part).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function judge(deps: HearingDeps, doubted: readonly SeenMembership[]): Promise<void> {
  const told = await ask(deps, doubted);
  if (told === null) {
    const refused = eachByItself(doubted, (some) => suspendUntold(deps, some, { waitMilliseconds }));
    await refused.finally(() => deps.memberships.catchUp());
    return;
  }
  const lasting = new Set(told.map(keyOf));
  const missing = doubted.filter((each) => !lasting.has(keyOf(each)));
  await settled([
    eachByItself(missing, (some) => suspendUntold(deps, some, { waitMilliseconds })),
    eachByItself(told, (some) => keepTold(deps, some, { listed: true, waitMilliseconds })),
  ]);
}

/** Waits for all of them, then throws what the first failed with. */
async function settled(works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}

/** What auth-sm says of them now, as far as it can be understood; null when it says nothing that can be understood, whyever. */
async function ask({ bus }: HearingDeps, doubted: readonly SeenMembership[]): Promise<readonly Membership[] | null> {
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
