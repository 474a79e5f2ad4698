import { setTimeout as pause } from "node:timers/promises";

/** Asks every 10 ms until there is an answer other than undefined and false, and returns it. Throws after 10 s. */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>; // just checked
    if (performance.now() > deadline) throw new Error(`not within 10 s: ${what}`);
    await pause(10);
  }
}
