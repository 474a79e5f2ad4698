import { revokedSessionsKey } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { listRevokedSessions } from "../store/accounts/sessions.ts";
import type { Revocation } from "./revoke.ts";

const againMilliseconds = 1000;

/**
 * Writes ended sessions to Redis for as long as one of their access tokens could still be valid.
 * Best effort: Postgres is the truth, and the bus carries the event too.
 */
export interface Announcer {
  /** Writes these sessions, or retries about a second later. Never rejects. */
  announce(revocations: readonly Revocation[]): Promise<void>;
  close(): void;
}

/**
 * Writes the recently ended sessions when Redis (re)connects, since it may have lost its data.
 * While Redis refuses writes (full, without replicas, too slow), it retries until one succeeds.
 * Without Redis it does nothing.
 */
export function createAnnouncer(deps: Pick<Deps, "config" | "database" | "now" | "redis" | "telemetry">): Announcer {
  const { config, database, now, telemetry } = deps;
  if (deps.redis === null) return { announce: () => Promise.resolve(), close: () => undefined };
  const redis = deps.redis;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;
  let closed = false;
  /** All access tokens of sessions that ended before this have expired. */
  const oldest = (): Date => new Date(now().getTime() - config.COFFER_ACCESS_TOKEN_SECONDS * 1000);

  async function publish(revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return;
    const answers = await redis
      .pipeline()
      .zadd(revokedSessionsKey, ...revocations.flatMap(({ sessionId, at }) => [at.getTime(), sessionId]))
      .zremrangebyscore(revokedSessionsKey, "-inf", oldest().getTime())
      .exec();
    // The pipeline resolves even when its commands fail.
    for (const [refused] of answers ?? []) if (refused !== null) throw refused;
    failing = false;
  }

  async function publishAll(): Promise<void> {
    try {
      const revoked = await listRevokedSessions(database.pool, oldest());
      await publish(revoked.map(({ id, revoked_at }) => ({ sessionId: id, at: new Date(revoked_at) })));
    } catch (error) {
      failed(error);
    }
  }

  function failed(error: unknown): void {
    if (!failing)
      telemetry.log.warn({ err: error }, "cannot write ended sessions to Redis; the bus still publishes them");
    failing = true;
    if (!closed) timer ??= setTimeout(again, againMilliseconds).unref();
  }

  function again(): void {
    timer = undefined;
    // A disconnected Redis is updated when it reconnects.
    if (redis.status === "ready") void publishAll();
  }

  const atConnect = (): void => void publishAll();
  redis.on("ready", atConnect);
  return {
    announce: (revocations) => publish(revocations).catch(failed),
    close() {
      closed = true;
      clearTimeout(timer);
      redis.off("ready", atConnect);
    },
  };
}
