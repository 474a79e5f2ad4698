import { revokedSessionsKey } from "@coffer/events";
import type { Deps } from "../deps.ts";
import { listRevokedSessions } from "../store/sessions.ts";
import type { Revocation } from "./revoke.ts";

const againMilliseconds = 1000;

/**
 * Tells Redis which sessions have ended, for as long as an access token of theirs could still be shown. Best effort:
 * the truth is in Postgres, the news goes over the bus as well.
 */
export interface Announcer {
  /** Tells of these, at most a moment later also when Redis does not take it now. Never rejects. */
  announce(revocations: readonly Revocation[]): Promise<void>;
  close(): void;
}

/**
 * Tells a Redis that has just (re)connected, and may have forgotten everything, what ended lately; and one that is
 * there but refuses (full, without its replicas, too slow) again and again until it has taken it. Without Redis it does
 * nothing.
 */
export function createAnnouncer(deps: Pick<Deps, "config" | "database" | "now" | "redis" | "telemetry">): Announcer {
  const { config, database, now, telemetry } = deps;
  if (deps.redis === null) return { announce: () => Promise.resolve(), close: () => undefined };
  const redis = deps.redis;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;
  let closed = false;
  /** What ended before this moment has no access token left. */
  const oldest = (): Date => new Date(now().getTime() - config.COFFER_ACCESS_TOKEN_SECONDS * 1000);

  async function tell(revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return;
    const answers = await redis
      .pipeline()
      .zadd(revokedSessionsKey, ...revocations.flatMap(({ sessionId, at }) => [at.getTime(), sessionId]))
      .zremrangebyscore(revokedSessionsKey, "-inf", oldest().getTime())
      .exec();
    // The pipeline resolves whatever became of its commands.
    for (const [refused] of answers ?? []) if (refused !== null) throw refused;
    failing = false;
  }

  async function tellAll(): Promise<void> {
    try {
      const revoked = await listRevokedSessions(database.pool, oldest());
      await tell(revoked.map(({ id, revoked_at }) => ({ sessionId: id, at: new Date(revoked_at) })));
    } catch (error) {
      failed(error);
    }
  }

  function failed(error: unknown): void {
    if (!failing) telemetry.log.warn({ err: error }, "cannot tell Redis which sessions have ended; the bus does");
    failing = true;
    if (!closed) timer ??= setTimeout(again, againMilliseconds).unref();
  }

  function again(): void {
    timer = undefined;
    // One that is away is told when it is back.
    if (redis.status === "ready") void tellAll();
  }

  const atConnect = (): void => void tellAll();
  redis.on("ready", atConnect);
  return {
    announce: (revocations) => tell(revocations).catch(failed),
    close() {
      closed = true;
      clearTimeout(timer);
      redis.off("ready", atConnect);
    },
  };
}
