import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import {
  sweepDeletedVaults,
  sweepPages,
  type SweepQuery,
  sweepSights,
  sweepTicks,
  sweepTombstones,
  thinTicks,
} from "../store/sync/sync-sweeps.ts";
import { oldestDenseTick, oldestRetained } from "./retention.ts";

const limit = 1_000;
/** Higher: the first sweep after a start leaves most of the ticks that it reads. */
const mostTicks = 5_000;

/**
 * Deletes rows that no device can request: ticks first, since the other rows depend on them. Pages
 * stay as long as ticks, so that a page label is never read as a moment between two ticks.
 */
export function syncSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  const { pool } = database;
  let thinnedTo: string | null = null;
  /** Labels only grow: ticks up to `thinnedTo` need no second look. */
  const thin = async (): Promise<boolean> => {
    const { to, more } = await thinTicks(pool, { before: oldestDenseTick(now()), limit: mostTicks, after: thinnedTo });
    thinnedTo = to ?? thinnedTo;
    return more;
  };
  const old = (): SweepQuery => ({ before: oldestRetained(now()), limit });
  const steps: readonly (() => Promise<number>)[] = [
    () => sweepTicks(pool, old()),
    () => sweepTombstones(pool, old()),
    () => sweepSights(pool, old()),
    () => sweepDeletedVaults(pool, old()),
    () => sweepPages(pool, old()),
  ];
  return {
    everyMilliseconds: 60 * 60 * 1000,
    async batch() {
      let more = await thin();
      for (const step of steps) if ((await step()) === limit) more = true;
      return more;
    },
    failure: "expired sync rows could not be deleted; a later sweep retries",
  };
}
