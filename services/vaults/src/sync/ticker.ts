import type { Deps } from "../deps.ts";
import { storeTick } from "../store/sync/sync-ticks.ts";
import { beginEpoch } from "./begin-epoch.ts";

/** Stores ticks, one at a time: concurrent callers share it. */
export interface Ticker {
  /** Resolves when the watermark is stored, if it has moved. Throws ServiceError `unavailable`. */
  tick(): Promise<void>;
}

/** The least interval between ticks. */
const leastMilliseconds = 20;

/** Makes the ticker of this replica. It begins a new epoch if the database was restored. */
export function createTicker(deps: Pick<Deps, "database" | "now" | "telemetry">): Ticker {
  const tick = async (): Promise<void> => {
    if (await storeTick(deps.database.pool, deps.now())) return;
    await beginEpoch(deps);
    await storeTick(deps.database.pool, deps.now());
  };
  let underWay: Promise<void> | undefined;
  let restsUntil = 0;
  return {
    tick() {
      if (underWay !== undefined) return underWay;
      if (performance.now() < restsUntil) return Promise.resolve();
      underWay = tick()
        .then(() => void (restsUntil = performance.now() + leastMilliseconds))
        .finally(() => (underWay = undefined));
      return underWay;
    },
  };
}
