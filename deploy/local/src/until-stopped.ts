/**
 * Resolves with the reason for a stop: a signal, or the end of the parent process. Ignores later ones: npm
 * and a terminal may send the same signal twice.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => resolve(name));
    process.once("disconnect", () => resolve("the process that started this one is gone"));
  });
}
