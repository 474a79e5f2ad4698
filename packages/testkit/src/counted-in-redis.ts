import { until } from "./until.ts";

const away = "Redis does not answer";
const back = "the limiter counts in Redis";

/**
 * What comes of `work` while Redis has answered the limiters of all replicas in time. A Redis that is too slow for their
 * patience, as on a busy machine, lets each replica count for itself: then it is done again, so it must be for somebody
 * whom nobody has counted yet. Each of `logs` returns all that a replica has logged, from level `info` on.
 */
export async function countedInRedis<T>(logs: readonly (() => string)[], work: (attempt: number) => Promise<T>) {
  const misses = (): number => logs.reduce((sum, log) => sum + log().split(away).length - 1, 0);
  const areTogether = (): boolean =>
    logs.map((log) => log()).every((text) => text.lastIndexOf(back) > text.lastIndexOf(away));
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await until("all replicas count in Redis", areTogether);
    const before = misses();
    const result = await work(attempt);
    if (misses() === before && areTogether()) return result;
  }
  throw new Error("Redis was too slow twenty times");
}
