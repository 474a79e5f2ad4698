import { setTimeout as pause } from "node:timers/promises";

/** Waits until `holds` is true. Throws after 20 s, so that a test that waits in vain says for what. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const last = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > last) throw new Error(`waited in vain until ${what}`);
    await pause(2);
  }
}
