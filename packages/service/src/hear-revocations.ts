import type { Bus } from "@coffer/bus";
import { revokedSessionsKey, sessionRevoked } from "@coffer/events";
import type { Revocations } from "@coffer/tokens";
import { createRevocations } from "@coffer/tokens";
import type { ServiceBase } from "./service-base.ts";

/**
 * Hears of ended sessions from two sides, so that either may be away: reads them from Redis twice a second and at each
 * connection to the bus, and listens to the bus.
 */
export function hearRevocations(
  redis: ServiceBase["redis"],
  bus: Bus,
  { lifetimeSeconds, now }: { lifetimeSeconds: number; now: () => Date },
): Revocations {
  const revocations = createRevocations({
    readSince: async (since) => inPairs(await redis.zrange(revokedSessionsKey, since, "+inf", "BYSCORE", "WITHSCORES")),
    isBusConnected: () => bus.connected,
    lifetimeSeconds,
    now,
  });
  bus.subscribe(sessionRevoked, ({ session_id, at }) => revocations.add({ sessionId: session_id, at: Date.parse(at) }));
  bus.onConnect(() => revocations.refresh());
  return revocations;
}

function inPairs(membersAndScores: readonly string[]): { sessionId: string; at: number }[] {
  const pairs: { sessionId: string; at: number }[] = [];
  for (let at = 0; at + 1 < membersAndScores.length; at += 2)
    pairs.push({ sessionId: membersAndScores[at] ?? "", at: Number(membersAndScores[at + 1]) });
  return pairs;
}
