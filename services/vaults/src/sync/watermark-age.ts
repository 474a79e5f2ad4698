import type { Deps } from "../deps.ts";
import { findWatermark } from "../store/sync-ticks.ts";

/**
 * Measures at each scrape for how long the watermark has been held: since a transaction anywhere on the server, also in
 * another database, hangs there, every sync repeats what was changed after it. Zero while the watermark moves.
 */
export function observeWatermark({ database, telemetry }: Pick<Deps, "database" | "telemetry">): void {
  const age = telemetry.metrics.gauge(
    "coffer_sync_tick_age_seconds",
    "For how long a transaction that does not end has held the moments that devices sync from",
  );
  let seen: { watermark: string; since: number } | undefined;
  age.collect(async () => {
    const { watermark, held } = await findWatermark(database.pool);
    if (!held) seen = undefined;
    else if (seen?.watermark !== watermark) seen = { watermark, since: performance.now() };
    return seen === undefined ? 0 : (performance.now() - seen.since) / 1_000;
  });
}
