import type { CofferError } from "../errors.ts";

const firstDelayMilliseconds = 200;

/** A service that is away for long is asked this often, unless it names a longer time itself. */
const steadyDelayMilliseconds = 8000;

/**
 * Milliseconds until a failed request is retried; undefined when a retry is wrong or useless.
 * At least what `Retry-After` says. The delay doubles with each attempt, with jitter, so that many
 * clients do not retry in step; a rate limit says exactly when the next request is accepted.
 */
export function retryDelay(error: CofferError, attempt: number, repeatable: boolean): number | undefined {
  const refused = error.code === "rate_limited";
  const lost = error.code === "network" || error.code === "unavailable";
  if (!refused && !(lost && repeatable)) return undefined;
  const doubled = 2 ** (attempt - 1);
  const asked = (error.retryAfterSeconds ?? 0) * 1000;
  if (lost) {
    const grown = Math.max(asked, firstDelayMilliseconds) * doubled * (0.5 + Math.random());
    return Math.max(asked + Math.random() * 100, Math.min(grown, steadyDelayMilliseconds));
  }
  if (error.retryAfterSeconds !== undefined) return asked + Math.random() * 100;
  return 1000 * doubled * (0.75 + Math.random() / 2);
}
