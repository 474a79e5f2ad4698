import type { Deps } from "../deps.ts";
import { listRevokedSessions } from "../store/sessions.ts";
import type { Revocation } from "./revoke.ts";

/** Where every service reads which sessions have ended: a sorted set of session ids by the millisecond of their end. */
export const revokedSessionsKey = "coffer:revoked-sessions";

type AnnouncingDeps = Pick<Deps, "config" | "database" | "now" | "redis" | "telemetry">;

/**
 * Tells Redis which sessions have ended, for as long as an access token of theirs could still be shown. Best effort:
 * the truth is in Postgres, the news goes over the bus as well.
 */
export async function announceRevocations(deps: AnnouncingDeps, revocations: readonly Revocation[]): Promise<void> {
  if (revocations.length === 0) return;
  try {
    await deps.redis
      .pipeline()
      .zadd(revokedSessionsKey, ...revocations.flatMap(({ sessionId, at }) => [at.getTime(), sessionId]))
      .zremrangebyscore(revokedSessionsKey, "-inf", oldest(deps).getTime())
      .exec();
  } catch (error) {
    deps.telemetry.log.warn({ err: error }, "could not tell Redis which sessions have ended; the bus does");
  }
}

/** Tells a Redis that has just (re)connected, and may have forgotten everything, what ended lately. */
export function announceAtConnect(deps: AnnouncingDeps): void {
  const announceAll = async (): Promise<void> => {
    try {
      const revoked = await listRevokedSessions(deps.database.pool, oldest(deps));
      await announceRevocations(
        deps,
        revoked.map(({ id, revoked_at }) => ({ sessionId: id, at: new Date(revoked_at) })),
      );
    } catch (error) {
      deps.telemetry.log.warn({ err: error }, "could not read which sessions have ended");
    }
  };
  deps.redis.on("ready", () => void announceAll());
}

/** What ended before this moment has no access token left. */
function oldest({ config, now }: AnnouncingDeps): Date {
  return new Date(now().getTime() - config.COFFER_ACCESS_TOKEN_SECONDS * 1000);
}
