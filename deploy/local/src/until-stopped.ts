/**
 * Resolves with the reason when this process is to stop: a signal, or the end of the process that started it. What
 * comes after that changes nothing: npm and a terminal may send the same signal twice.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => resolve(name));
    process.once("disconnect", () => resolve("the process that started this one is gone"));
  });
}
