import { setTimeout as sleep } from "node:timers/promises";

/** Waits until something holds, asking every 10 ms. Throws after `milliseconds`. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  milliseconds = 10_000,
): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it did not come to pass within ${milliseconds} ms: ${what}`);
    await sleep(10);
  }
}
