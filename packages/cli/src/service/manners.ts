import type { CofferError } from "@coffer/sdk";
import type { AddressOptions } from "../command-row.ts";
import { printNotice } from "../output/output.ts";
import { version } from "@coffer/sdk/version";

/** The longest `Retry-After` that a command waits for, and how long it repeats refused requests. */
const longestWaitSeconds = 120;
/** For a caller that waits itself, or that reports the limit. */
const shortestWaitSeconds = 2;

/**
 * The transport options of a command: few retries without a response, and it waits while the rate
 * limit is exhausted.
 */
export function mannersOf({ insecureHttp, withoutWaiting }: AddressOptions) {
  const sayWaiting = onceWaiting();
  return {
    insecureHttp,
    attempts: 3,
    maxWaitSeconds: withoutWaiting === true ? shortestWaitSeconds : longestWaitSeconds,
    maxRefusedSeconds: withoutWaiting === true ? undefined : longestWaitSeconds,
    timeoutMilliseconds: 30_000,
    userAgent: `coffer-cli/${version}`,
    onRetry(error: CofferError, elapsedMilliseconds: number): void {
      if (error.code === "rate_limited") sayWaiting(error);
      // After a long wait, print the reason.
      else if (elapsedMilliseconds > 5_000) printNotice(`coffer: ${error.message}; trying again`);
    },
  };
}

/** Prints once that a command waits for the rate limit, if the wait is noticeable. */
function onceWaiting(): (error: CofferError) => void {
  let said = false;
  return ({ retryAfterSeconds: seconds = 0 }) => {
    if (said || seconds <= shortestWaitSeconds) return;
    printNotice(`coffer: too many requests from this address: waiting ${seconds} s (Retry-After)`);
    said = true;
  };
}
