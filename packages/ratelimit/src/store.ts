import type { Redis } from "ioredis";
import type { Script } from "./scripts.ts";
import { ageScript, takeScript } from "./scripts.ts";

const keyPrefix = "coffer:limit:";
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
  /** For how many microseconds the store has been filled without a break. */
  age(): Promise<number>;
}

/** `clock` gives the time in microseconds instead of Redis's own clock. */
export function createStore(redis: Redis, clock: (() => number) | undefined): Store {
  const time = (): number | "" => clock?.() ?? "";

  async function evaluate({ sha, source }: Script, key: string, values: (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(sha, 1, key, ...values);
    } catch (error) {
      // A server that has been started or flushed since does not know the script any more.
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return redis.eval(source, 1, key, ...values);
      throw error;
    }
  }

  return {
    take: async (key, limit, window) => {
      // The script's own reply.
      const [accepted, remaining, wait] = (await evaluate(takeScript, keyPrefix + key, [time(), limit, window])) as [
        number,
        number,
        number,
      ];
      return { accepted: accepted === 1, remaining, wait };
    },
    age: async () => (await evaluate(ageScript, ageKey, [time()])) as number, // the script's own reply
  };
}
