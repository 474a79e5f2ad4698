/**
 * The outcome of a poll: answered with that share of the rate limit left (0 to 1), refused by the
 * rate limit, or not answered.
 */
export type PollOutcome =
  | { kind: "answered"; remaining: number | undefined }
  /** `first`: there was no response yet, and a caller waits for one. */
  | { kind: "refused"; retryAfterSeconds: number; first?: boolean | undefined }
  | { kind: "away" };

/** The schedule of a poller, in seconds. */
export interface PollPlan {
  /** The current pace: the mean time between polls. */
  interval: number;
  /** Until the next poll. */
  wait: number;
}

const longestRefused = 900;
const longestAway = 300;
/** Over how many seconds the pollers without a first response spread. */
const firstSpread = 30;

/**
 * Plans the next poll. Clients behind one address share its rate limit without knowing of each
 * other. Each slows down by half when it is refused, and speeds up by a fifth while at least half
 * of the limit is left, so that together they converge below it. Jitter keeps them apart. A client
 * without a first response does not wait longer for repeated refusals, so it gets one before the
 * others; its later pace is the slower one.
 * @param base the desired pace, in seconds
 * @param random from 0 to 1
 */
export function planPoll(interval: number, base: number, outcome: PollOutcome, random: number): PollPlan {
  const jittered = (pace: number): number => pace * (0.9 + 0.2 * random);
  switch (outcome.kind) {
    case "refused": {
      const slower = Math.max(base, Math.min(longestRefused, interval * 1.5));
      const spread = outcome.first === true ? Math.min(slower, firstSpread) : slower;
      return { interval: slower, wait: Math.min(outcome.retryAfterSeconds, longestRefused) + spread * random };
    }
    case "away": {
      const slower = Math.max(base, Math.min(longestAway, interval * 1.5));
      return { interval: slower, wait: jittered(slower) };
    }
    case "answered": {
      const faster = (outcome.remaining ?? 1) >= 0.5 ? Math.max(base, interval * 0.8) : interval;
      return { interval: faster, wait: jittered(faster) };
    }
  }
}

/**
 * The remaining share of the rate limit in a response, from 0 to 1; undefined when it is missing.
 */
export function remainingIn(headers: Headers): number | undefined {
  const left = /;\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  const quota = /;\s*q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1];
  return left === undefined || quota === undefined || Number(quota) === 0 ? undefined : Number(left) / Number(quota);
}
