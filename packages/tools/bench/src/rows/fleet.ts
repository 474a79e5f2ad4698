import { createLimiter } from "@coffer/ratelimit";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import { CofferError } from "../../../../sdk/src/errors.ts";
import { type Watched, watchSecrets } from "../../../../sdk/src/secrets/watch-secrets.ts";
import { absoluteFigure, type Bench, type Figure, type Row } from "../row.ts";
import { simulatedTime } from "../simulated-time.ts";

const machines = 500;
const hours = 3;
const microseconds = 1_000_000;

/** The responses of one machine, in seconds of simulated time. */
interface Answered {
  first: number | undefined;
  last: number;
  longest: number;
}

/**
 * 500 machines behind one address that start at once and then watch their secrets with the SDK's
 * `watch`, against the limiter in Redis, for hours of simulated time. Randomness has one seed.
 */
export const fleet: Row = {
  name: "fleet",
  async run({ coffer }: Bench): Promise<Figure[]> {
    const time = simulatedTime(1);
    const limiter = createLimiter({
      redis: coffer.redisUrl,
      limits: { strict: 5, standard: 60, user: 300 },
      windowSeconds: 60,
      replicas: 1,
      metrics: createTelemetry({ service: "auth-sm", level: "fatal" }).metrics,
      clock: () => Math.round(time.now() * microseconds),
    });
    const count = { requests: 0, refused: 0 };
    /** One machine's watch of a list that never changes, through the limiter. */
    const machine = (answered: Answered): Watched => {
      let remaining: number | undefined;
      return {
        async views() {
          count.requests += 1;
          const decision = await limiter.take("standard", "198.51.100.1");
          if (!decision.accepted) {
            count.refused += 1;
            const { retryAfterSeconds } = decision;
            throw new CofferError("rate_limited", "too many requests", { status: 429, retryAfterSeconds });
          }
          remaining = decision.remaining / decision.limit;
          answered.first ??= time.now();
          answered.longest = Math.max(answered.longest, time.now() - answered.last);
          answered.last = time.now();
          return [];
        },
        open: () => Promise.resolve([]),
        remaining: () => remaining,
        away: () => undefined,
      };
    };
    const stop = new AbortController();
    try {
      await until("the limiter counts in Redis", () => !limiter.degraded);
      const all = Array.from({ length: machines }, (): Answered => ({ first: undefined, last: 0, longest: 0 }));
      const watches = all.map((one) => watchSecrets(machine(one), () => undefined, { signal: stop.signal }, time));
      await time.run(hours * 3600);
      await Promise.all(watches);
      const started = Math.max(...all.map(({ first }) => first ?? Infinity));
      const longest = Math.max(...all.map(({ longest }) => longest));
      return [
        absoluteFigure(
          `${machines} machines behind one address that start at once: until the last has`,
          "s",
          started,
          900,
        ),
        absoluteFigure(`${machines} machines behind one address: longest without an answer`, "s", longest, 3600),
        absoluteFigure(
          `${machines} machines behind one address: refused`,
          "%",
          (100 * count.refused) / count.requests,
          35,
        ),
      ];
    } finally {
      stop.abort();
      limiter.close();
    }
  },
};
