import { setTimeout } from "node:timers/promises";
import { CofferError } from "@coffer/sdk";
import { tell } from "./output.ts";

/** Over how many seconds those who were refused together come again. */
const spreadSeconds = 30;

/**
 * What `ask` gives, when the rate limit lets it: asks again after `Retry-After`, until that would be later than
 * `mostSeconds` from the beginning. Throws what `ask` throws otherwise, and then the refusal.
 */
export async function inTurn<T>(ask: () => Promise<T>, mostSeconds: number): Promise<T> {
  const waiting = waitingLine();
  let waited = 0;
  for (;;) {
    try {
      return await ask();
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

/** Says once that a command waits for its turn, and why. */
export function waitingLine(): (error: CofferError, seconds: number) => void {
  let said = false;
  return ({ message }, seconds) => {
    if (!said) tell(`coffer: waiting for its turn (${message}); asking again in ${Math.ceil(seconds)} s`);
    said = true;
  };
}
