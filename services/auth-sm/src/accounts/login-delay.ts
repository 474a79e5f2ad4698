import type { LoginCount } from "../store/accounts/login-counts.ts";

const minute = 60_000;
/** This many unfinished logins within the window delay the next one. */
const most = 10;
const windowMilliseconds = 15 * minute;
/** Each further login doubles the delay: 1, 2, 4, 8 minutes, then 15. */
const firstDelayMilliseconds = minute;
const longestDelayMilliseconds = 15 * minute;
const mostDelays = 5;

/** The count after one more login at `now`. */
export function afterStart(count: LoginCount, now: Date): LoginCount {
  const at = now.getTime();
  const isPast = count.expiresAt <= now;
  const startedAt = [...(isPast ? [] : count.startedAt), now].slice(-most);
  const [tenth] = startedAt;
  const isFull = startedAt.length === most && tenth !== undefined && at - tenth.getTime() < windowMilliseconds;
  const before = isPast ? 0 : count.delays;
  if (before === 0 && !isFull) {
    const expiresAt = new Date(at + windowMilliseconds);
    return { ...count, startedAt, delays: 0, delayedSince: null, delayedUntil: null, expiresAt };
  }
  const delays = Math.min(before + 1, mostDelays);
  const until = at + Math.min(firstDelayMilliseconds * 2 ** (delays - 1), longestDelayMilliseconds);
  return {
    ...count,
    startedAt,
    delays,
    delayedSince: before === 0 ? now : count.delayedSince,
    delayedUntil: new Date(until),
    // The delay shrinks only after an equally long time without a login.
    expiresAt: new Date(until + windowMilliseconds),
  };
}

/** How many milliseconds the next login is delayed; 0 when it may start. */
export function delayOf({ delayedUntil }: LoginCount, now: Date): number {
  return delayedUntil === null ? 0 : Math.max(0, delayedUntil.getTime() - now.getTime());
}

/**
 * The delay at an address where the account's owner has logged in before: attempts from elsewhere
 * delay it once, by the first delay, however long they continue. A known device is not delayed at
 * all.
 */
export function delayAtKnownPlace({ delayedSince, delayedUntil }: LoginCount, now: Date): number {
  if (delayedSince === null || delayedUntil === null) return 0;
  const until = Math.min(delayedUntil.getTime(), delayedSince.getTime() + firstDelayMilliseconds);
  return Math.max(0, until - now.getTime());
}
