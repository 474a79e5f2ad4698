import type { Logger } from "@coffer/telemetry";
import type { RedisClient } from "./connect-redis.ts";

/**
 * Logs why Redis cannot be used, such as `WRONGPASS`: each reason once, until it is ready again. ioredis
 * repeats an error with every attempt to connect.
 */
export function logReasons(connection: RedisClient, log: Pick<Logger, "warn">): void {
  const logged = new Set<string>();
  connection.on("ready", () => logged.clear());
  connection.on("error", (error: Error & { code?: unknown }) => {
    // Only the message: the error of AUTH has the password among its properties.
    const reason = error.message === "" ? String(error.code) : error.message;
    if (logged.has(reason)) return;
    logged.add(reason);
    log.warn({ reason }, "Redis cannot be used; retrying");
  });
}
