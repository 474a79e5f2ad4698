/**
 * Resolves with the reason when the process is asked to stop: SIGINT, SIGTERM, or the loss of the process that forked
 * it. A second signal ends the process at once.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (reason: string): void => {
      if (stopping) process.exit(1);
      stopping = true;
      resolve(reason);
    };
    process.on("SIGINT", () => stop("SIGINT"));
    process.on("SIGTERM", () => stop("SIGTERM"));
    process.once("disconnect", () => {
      if (!stopping) stop("the parent process is gone");
    });
  });
}
