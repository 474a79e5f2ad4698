import { setTimeout } from "node:timers/promises";
import { CofferError } from "@coffer/sdk";
import { printNotice } from "../output/output.ts";

/** Spreads the retries of clients that were refused together. */
const spreadSeconds = 30;

/**
 * Calls `attempt` and repeats it after `Retry-After`, until the next call would be later than
 * `mostSeconds` from the start; then throws the refusal. Throws other errors of `attempt` at once.
 */
export async function retryWhenLimited<T>(attempt: () => Promise<T>, mostSeconds: number): Promise<T> {
  const waiting = limitNotice();
  let waited = 0;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "rate_limited") throw error;
      const retryAfter = error.retryAfterSeconds ?? 1;
      if (waited >= mostSeconds || waited + retryAfter > mostSeconds) throw error;
      const seconds = Math.min(retryAfter + spreadSeconds * Math.random(), mostSeconds - waited);
      waiting(error, seconds);
      waited += seconds;
      await setTimeout(seconds * 1000);
    }
  }
}

/** Prints once that a command waits for the rate limit, and why. */
export function limitNotice(): (error: CofferError, seconds: number) => void {
  let said = false;
  return ({ message }, seconds) => {
    if (!said) printNotice(`coffer: waiting for the rate limit (${message}); trying again in ${Math.ceil(seconds)} s`);
    said = true;
  };
}
