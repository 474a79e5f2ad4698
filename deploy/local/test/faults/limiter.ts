import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Started, until } from "../npm-start.ts";

/**
 * Whether the limiter of auth-sm counts in Redis. On a busy machine Redis may answer too late, as if it
 * were away: then it counts for its process alone, and a kill of that process loses the count.
 */
export function watchLimiter(directory: string, coffer: Started) {
  const downs = (): number =>
    readFileSync(join(directory, "log/auth-sm.log"), "utf8").split("the limiter counts for this replica alone").length;
  const isUp = async (): Promise<boolean> => {
    const address = coffer.state().services["auth-sm"]?.management_url;
    const metrics = await fetch(`${address ?? ""}/metrics`).then(
      (answer) => answer.text(),
      () => "",
    );
    return /^coffer_ratelimit_degraded\{[^}]*\} 0$/m.test(metrics);
  };
  return {
    /** The result of `work`, repeated until the limiter counted in Redis all the time. */
    async countedInRedis<T>(work: () => Promise<T>): Promise<T> {
      for (;;) {
        // Read before the work: a fallback just after it is seen in the end.
        const before = downs();
        await until(isUp);
        const done = await work();
        if ((await isUp()) && downs() === before) return done;
      }
    },
  };
}
