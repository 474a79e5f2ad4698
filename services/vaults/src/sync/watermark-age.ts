import type { Deps } from "../deps.ts";
import { findWatermark } from "../store/sync/sync-ticks.ts";

/**
 * Measures at each scrape for how long a transaction has held the watermark, also one of another
 * database: until it ends, every sync repeats later changes. Zero while the watermark moves.
 */
export function observeWatermark({ database, telemetry }: Pick<Deps, "database" | "telemetry">): void {
  const age = telemetry.metrics.gauge(
    "coffer_sync_tick_age_seconds",
    "For how long an open transaction has held the watermark that devices sync from",
  );
  let seen: { watermark: string; since: number } | undefined;
  age.collect(async () => {
    const { watermark, held } = await findWatermark(database.pool);
    if (!held) seen = undefined;
    else if (seen?.watermark !== watermark) seen = { watermark, since: performance.now() };
    return seen === undefined ? 0 : (performance.now() - seen.since) / 1_000;
  });
}
