import { setTimeout as pause } from "node:timers/promises";

/**
 * Calls `read` every few milliseconds until it returns a value (not undefined, null or false), and
 * returns that. Throws after `seconds`.
 */
export async function until<T>(
  what: string,
  read: () => T | Promise<T>,
  seconds = 20,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await read();
    if (answer !== undefined && answer !== null && answer !== false)
      return answer as Exclude<T, undefined | null | false>; // just checked
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await pause(5);
  }
}
