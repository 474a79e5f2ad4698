/** How a poll ended: answered with that share of the rate limit left (0 to 1), refused by it, or not answered. */
export type PollOutcome =
  | { kind: "answered"; room: number | undefined }
  /** `first`: nothing was ever answered, and somebody waits for it. */
  | { kind: "refused"; retryAfterSeconds: number; first?: boolean | undefined }
  | { kind: "away" };

/** A poll's place in time, in seconds. */
export interface PollPlan {
  /** The pace that has been found: the mean time between polls. */
  interval: number;
  /** Until the next poll. */
  wait: number;
}

const longestRefused = 900;
const longestAway = 300;
/** Over how many seconds those who wait for their first answer spread. */
const firstSpread = 30;

/**
 * When to poll next. Clients behind one address share its rate limit without knowing of each other: each slows down by
 * half when it is refused and speeds up again by a fifth while at least half of the limit is left, so that together they
 * settle below it. Nobody waits exactly as long as another. Who has had no answer yet does not wait longer for being
 * refused often, and so comes before those who have one; its pace afterwards is the slower one that it has found.
 *
 * @param base the pace that is wished for, in seconds
 * @param random from 0 to 1
 */
export function planPoll(interval: number, base: number, outcome: PollOutcome, random: number): PollPlan {
  const jittered = (pace: number): number => pace * (0.9 + 0.2 * random);
  switch (outcome.kind) {
    case "refused": {
      const slower = Math.max(base, Math.min(longestRefused, interval * 1.5));
      const spread = outcome.first === true ? Math.min(slower, firstSpread) : slower;
      return { interval: slower, wait: outcome.retryAfterSeconds + spread * random };
    }
    case "away": {
      const slower = Math.max(base, Math.min(longestAway, interval * 1.5));
      return { interval: slower, wait: jittered(slower) };
    }
    case "answered": {
      const faster = (outcome.room ?? 1) >= 0.5 ? Math.max(base, interval * 0.8) : interval;
      return { interval: faster, wait: jittered(faster) };
    }
  }
}

/** The share of the rate limit that an answer says is left, from 0 to 1; undefined when it does not say. */
export function roomIn(headers: Headers): number | undefined {
  const left = /;\s*r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];
  const quota = /;\s*q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1];
  return left === undefined || quota === undefined || Number(quota) === 0 ? undefined : Number(left) / Number(quota);
}
