import { createLimiter } from "@coffer/ratelimit";
import { createTelemetry } from "@coffer/telemetry";
import { until } from "@coffer/testkit";
import { planPoll } from "../../../../packages/sdk/src/poll-schedule.ts";
import type { Bench, Figure, Row } from "../row.ts";
import { absoluteFigure } from "../row.ts";

const machines = 500;
const hours = 3;
const microseconds = 1_000_000;

/**
 * 500 machines behind one address that each watch their secrets by the SDK's schedule, against the limiter itself in
 * Redis: hours of simulated time, which both are told. The starts and the jitter are random; one seed gives one run.
 */
export const fleet: Row = {
  name: "fleet",
  async run({ coffer }: Bench): Promise<Figure[]> {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    let now = 0;
    const limiter = createLimiter({
      redis: coffer.redisUrl,
      limits: { strict: 5, standard: 60, user: 300 },
      windowSeconds: 60,
      replicas: 1,
      metrics: createTelemetry({ service: "auth-sm", level: "fatal" }).metrics,
      clock: () => Math.round(now * microseconds),
    });
    try {
      await until("the limiter counts in Redis", () => !limiter.degraded);
      const polls = Array.from({ length: machines }, () => ({ at: random(), interval: 60, last: 0, longest: 0 }));
      let [asked, refused] = [0, 0];
      for (;;) {
        const poll = polls.reduce((first, one) => (one.at < first.at ? one : first));
        if (poll.at > hours * 3600) break;
        now = poll.at;
        asked += 1;
        const decision = await limiter.take("standard", "198.51.100.1");
        if (decision.accepted) {
          poll.longest = Math.max(poll.longest, now - poll.last);
          poll.last = now;
        } else refused += 1;
        const outcome = decision.accepted
          ? ({ kind: "answered", room: decision.remaining / decision.limit } as const)
          : ({ kind: "refused", retryAfterSeconds: decision.retryAfterSeconds } as const);
        const { interval, wait } = planPoll(poll.interval, 60, outcome, random());
        poll.interval = interval;
        poll.at += wait;
      }
      const longest = Math.max(...polls.map(({ longest }) => longest));
      return [
        absoluteFigure(`${machines} machines behind one address: longest without an answer`, "s", longest, 3600),
        absoluteFigure(`${machines} machines behind one address: refused`, "%", (100 * refused) / asked, 35),
      ];
    } finally {
      limiter.close();
    }
  },
};
