import type { WatchTime } from "../../../sdk/src/secrets/watch-secrets.ts";

export interface SimulatedTime extends WatchTime {
  /** Seconds since the start. */
  now(): number;
  /** Lets `seconds` pass: planned work runs in order, one after the other. */
  run(seconds: number): Promise<void>;
}

interface Planned {
  at: number;
  work: () => Promise<void>;
}

/** Simulated time and randomness for watches. One seed gives one run. */
export function simulatedTime(seed: number): SimulatedTime {
  const planned = new Set<Planned>();
  let state = seed;
  let now = 0;
  return {
    now: () => now,
    random: () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647,
    after(seconds, work) {
      const one = { at: now + seconds, work };
      planned.add(one);
      return () => void planned.delete(one);
    },
    async run(seconds) {
      const end = now + seconds;
      for (;;) {
        const next = [...planned].reduce<Planned | undefined>(
          (first, one) => (first === undefined || one.at < first.at ? one : first),
          undefined,
        );
        if (next === undefined || next.at > end) break;
        planned.delete(next);
        now = next.at;
        await next.work();
      }
      now = end;
    },
  };
}
