import type { Bus } from "@coffer/bus";
import { revokedSessions, revokedSessionsKey, sessionRevoked } from "@coffer/events";
import { createRevocations, type Revocation, type Revocations, type RevocationsOptions } from "@coffer/tokens";
import type { StatelessBase } from "./stateless-base.ts";

type Redis = NonNullable<StatelessBase["redis"]>;
type RevokedPage = ReturnType<typeof revokedSessions.output.parse>;

/** Short, so that an auth-sm that hangs does not delay the read from Redis. */
const timeoutMilliseconds = 1_000;

/**
 * Follows revoked sessions from three sources, so that Redis or the bus may be away: bus events,
 * the set in Redis, and requests to auth-sm. Each new connection reads the whole window again.
 */
export function followRevocations(
  redis: Redis | null,
  bus: Bus,
  { lifetimeSeconds, now, onRevoked }: Pick<RevocationsOptions, "lifetimeSeconds" | "now" | "onRevoked">,
): Revocations {
  const revocations = createRevocations({
    sources: [
      ...(redis === null ? [] : [(since: number) => readStored(redis, since)]),
      (since: number) => fetchRevoked(bus, since),
    ],
    isBusConnected: () => bus.connected,
    lifetimeSeconds,
    now,
    onRevoked,
  });
  bus.subscribe(sessionRevoked, (event) => revocations.add(revocationOf(event)));
  bus.onConnect(() => revocations.refresh());
  redis?.on("ready", () => void revocations.readAll());
  return revocations;
}

function revocationOf({ session_id, at }: { session_id: string; at: string }): Revocation {
  return { sessionId: session_id, at: Date.parse(at) };
}

async function readStored(redis: Redis, since: number): Promise<Revocation[]> {
  const found = await redis.zrange(revokedSessionsKey, since, "+inf", "BYSCORE", "WITHSCORES");
  const revocations: Revocation[] = [];
  for (let at = 0; at + 1 < found.length; at += 2)
    revocations.push({ sessionId: found[at] ?? "", at: Number(found[at + 1]) });
  return revocations;
}

async function fetchRevoked(bus: Bus, since: number): Promise<Revocation[]> {
  const revocations: Revocation[] = [];
  let from: { since: string; after?: string } = { since: new Date(since).toISOString() };
  for (;;) {
    const page: RevokedPage = await bus.request(revokedSessions, from, {
      timeoutMilliseconds,
    });
    revocations.push(...page.sessions.map(revocationOf));
    const last = page.sessions.at(-1);
    if (!page.has_more || last === undefined) return revocations;
    from = { since: last.at, after: last.session_id };
  }
}
