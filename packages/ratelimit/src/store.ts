import { Redis } from "ioredis";
import type { RedisClient } from "./connect-redis.ts";
import { ageScript, type Script, takeScript } from "./scripts.ts";

/** The prefix of every key of the limiter. */
export const keyPrefix = "coffer:limit:";
const ageKey = `${keyPrefix}since`;

export interface TakeReply {
  readonly accepted: boolean;
  readonly remaining: number;
  /** Microseconds until one more fits. */
  readonly wait: number;
}

/** The scripts of the limiter. Rejects with the errors of ioredis. */
export interface Store {
  take(key: string, limit: number, window: number): Promise<TakeReply>;
  /** Loads the scripts. Resolves to the microseconds for which the data is complete. */
  prepare(): Promise<number>;
}

/** `clock` gives the time in microseconds instead of Redis's own clock. */
export function createStore(redis: RedisClient, clock: (() => number) | undefined): Store {
  const time = (): number | "" => clock?.() ?? "";
  const gather = createGather(redis);

  function evaluate({ sha, source }: Script, key: string, values: (string | number)[]): Promise<unknown> {
    gather();
    return redis.evalsha(sha, 1, key, ...values).catch((error: unknown) => {
      // The server was restarted or flushed and lost the script.
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return redis.eval(source, 1, key, ...values);
      throw error;
    });
  }

  return {
    take: (key, limit, window) =>
      evaluate(takeScript, keyPrefix + key, [time(), limit, window]).then((reply) => {
        const [accepted, remaining, wait] = reply as [number, number, number]; // what the script returns
        return { accepted: accepted === 1, remaining, wait };
      }),
    prepare: async () => {
      const [age] = await Promise.all([evaluate(ageScript, ageKey, [time()]), redis.script("LOAD", takeScript.source)]);
      return age as number; // what the script returns
    },
  };
}

/**
 * Gathers the commands of one event loop turn into one socket write; call it before each command. A
 * write costs more than a command, and ioredis's own pipelining as much as both.
 */
function createGather(redis: RedisClient): () => void {
  // A cluster has a connection for each node.
  if (!(redis instanceof Redis)) return () => undefined;
  let gathering = false;
  return () => {
    if (gathering || redis.status !== "ready") return;
    gathering = true;
    const { stream } = redis;
    stream.cork();
    setImmediate(() => {
      gathering = false;
      stream.uncork();
    });
  };
}
