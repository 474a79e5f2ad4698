import type { Redis } from "ioredis";
import type { Script } from "./scripts.ts";
import { ageScript, takeScript } from "./scripts.ts";

/** Of every key of the limiter. */
export const keyPrefix = "coffer:limit:";
const ageKey = `${keyPrefix}since`;

export interface TakeReply {
  readonly accepted: boolean;
  readonly remaining: number;
  /** Microseconds until one more fits. */
  readonly wait: number;
}

/** The two questions that the limiter asks Redis. Each rejects with whatever ioredis reports. */
export interface Store {
  take(key: string, limit: number, window: number): Promise<TakeReply>;
  /** Gets the server ready for questions. Resolves to how many microseconds it has been filled without a break. */
  prepare(): Promise<number>;
}

/** `clock` gives the time in microseconds instead of Redis's own clock. */
export function createStore(redis: Redis, clock: (() => number) | undefined): Store {
  const time = (): number | "" => clock?.() ?? "";
  const gather = createGather(redis);

  function evaluate({ sha, source }: Script, key: string, values: (string | number)[]): Promise<unknown> {
    gather();
    return redis.evalsha(sha, 1, key, ...values).catch((error: unknown) => {
      // A server that has been started or flushed since does not know the script any more.
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
 * Makes a function that is called before each command: all commands of one turn of the event loop leave in one write, at
 * its end. A write costs more than the command in it, and ioredis's own pipelining as much as both.
 */
function createGather(redis: Redis): () => void {
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
