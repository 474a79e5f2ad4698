import type { Sweep } from "@coffer/service";
import type { Deps } from "../deps.ts";
import type { SweepQuery } from "../store/sync-sweeps.ts";
import {
  sweepDeletedVaults,
  sweepPages,
  sweepSights,
  sweepTicks,
  sweepTombstones,
  thinTicks,
} from "../store/sync-sweeps.ts";
import { oldestDenseTick, oldestKept } from "./retention.ts";

const limit = 1_000;
/** Most of those that it looks at it keeps, at the first sweep after a start. */
const mostTicks = 5_000;

/**
 * Takes away what no device can ask for any more: ticks first, since the rest stays for them. A page's label is kept as
 * long as ticks are, although nobody may continue from it: it must not be taken for the moment between two ticks.
 */
export function syncSweep({ database, now }: Pick<Deps, "database" | "now">): Sweep {
  const { pool } = database;
  let thinnedTo: string | null = null;
  /** Labels only grow: of the ticks before that place there will be no other ones to thin. */
  const thin = async (): Promise<boolean> => {
    const { to, more } = await thinTicks(pool, { before: oldestDenseTick(now()), limit: mostTicks, after: thinnedTo });
    thinnedTo = to ?? thinnedTo;
    return more;
  };
  const old = (): SweepQuery => ({ before: oldestKept(now()), limit });
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
    failure: "what no device can ask for any more cannot be removed now; a later sweep will",
  };
}
