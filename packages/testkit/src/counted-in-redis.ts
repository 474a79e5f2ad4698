import { until } from "./until.ts";

const away = "Redis does not answer";
const back = "the limiter counts in Redis";

/**
 * The result of `work` with the limiters of all replicas on Redis. If Redis is too slow for them, as on
 * a busy machine, each replica counts alone; then `work` is repeated, so it must use a new source each
 * time. Each of `logs` returns a replica's log, from level `info` on.
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
