import type { Deps } from "../deps.ts";
import { keepTick } from "../store/sync-ticks.ts";
import { beginEpoch } from "./begin-epoch.ts";

/** Keeps ticks, one at a time: those who ask meanwhile share it. */
export interface Ticker {
  /** Resolves when the watermark is kept, so far as it has moved. Throws ServiceError `unavailable`. */
  tick(): Promise<void>;
}

/** No tick is kept sooner after another. */
const leastMilliseconds = 20;

/** Makes the ticker of this replica. It begins a new epoch when it finds that the database is another one. */
export function createTicker(deps: Pick<Deps, "database" | "now" | "telemetry">): Ticker {
  const tick = async (): Promise<void> => {
    if (await keepTick(deps.database.pool, deps.now())) return;
    await beginEpoch(deps);
    await keepTick(deps.database.pool, deps.now());
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
