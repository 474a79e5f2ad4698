import type { CofferError } from "../errors.ts";

const firstDelayMilliseconds = 200;

/**
 * Milliseconds until a failed request is retried; undefined when a retry is wrong or useless.
 * `Retry-After` takes precedence. Otherwise the delay doubles with each attempt, with jitter, so
 * that many clients do not retry in step.
 */
export function retryDelay(error: CofferError, attempt: number, repeatable: boolean): number | undefined {
  const refused = error.code === "rate_limited";
  const lost = error.code === "network" || error.code === "unavailable";
  if (!refused && !(lost && repeatable)) return undefined;
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000 + Math.random() * 100;
  if (refused) return 1000 * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
  return firstDelayMilliseconds * 2 ** (attempt - 1) * (0.5 + Math.random());
}
