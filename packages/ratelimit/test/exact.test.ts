import { createRandom, testRedis } from "@coffer/testkit";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { type Bucket, bucketAddress, type Decision } from "../src/index.ts";
import { nextArrival } from "./arrivals.ts";
import { connected, limits, startLimiter, window } from "./limiters.ts";
import { createModel, mostInOneWindow } from "./model.ts";

// Two spellings of one IPv4 address, two hosts of one /64, and neighbours of both.
const addresses = [
  "203.0.113.1",
  "::ffff:203.0.113.1",
  "203.0.113.2",
  "198.51.100.77",
  "2001:db8:0:1::1",
  "2001:db8:0:1:ffff:ffff:ffff:fffe",
  "2001:db8:0:2::1",
] as const;
const buckets = ["strict", "standard", "user"] as const;
const start = 1_800_000_000_000_000;

await t.test("any arrivals over three replicas are decided as the model decides", async (t) => {
  const redis = await testRedis(t);
  let now = start;
  const replicas = Array.from({ length: 3 }, () =>
    startLimiter(t, { redis: redis.url, replicas: 3, clock: () => now }),
  );
  await Promise.all(replicas.map(connected));
  now += window; // the store has been filled for a window from here on

  for (const seed of [1, 2]) {
    const random = createRandom(seed);
    const model = createModel(window);
    now += 10 * window;
    let refused = 0;

    for (let step = 0; step < 500; step++) {
      const bucket: Bucket = random.pick(buckets);
      const address = random.pick(addresses);
      const key = `${bucket}:${bucketAddress(address)}`;
      now = nextArrival(random.next, now, model.accepted(key));
      const count = 1 + Math.floor(random.next() ** 5 * limits[bucket] * 1.2);
      const expected = model.take(key, limits[bucket], now, count);
      const decisions = await Promise.all(
        Array.from({ length: count }, () => random.pick(replicas).take(bucket, address)),
      );
      refused += decisions.filter(({ accepted }) => !accepted).length;
      if (!t.strictSame(inOrder(decisions), inOrder(expected), `seed ${seed}, step ${step}: ${count} for ${key}`))
        return;
    }

    for (const key of model.keys()) {
      const limit = limits[key.split(":", 1)[0] as Bucket]; // keys are made above
      t.ok(mostInOneWindow(model.accepted(key), window) <= limit, `no window of ${key} has more than ${limit}`);
      t.ok(model.accepted(key).length > limit, `${key} was used for more than its limit`);
    }
    t.ok(refused > 200, "many were refused");
    await holdsOnly(t, redis.url, model, now);
  }
});

/** Decisions of one instant are unordered. */
function inOrder(decisions: readonly Decision[]): Decision[] {
  return decisions.toSorted((a, b) => Number(b.accepted) - Number(a.accepted) || b.remaining - a.remaining);
}

function expires(milliseconds: number): boolean {
  return milliseconds > 0 && milliseconds <= window / 1000 + 1000;
}

/**
 * Redis holds the acceptances of the last window, nothing about refusals, and each key for a
 * limited time.
 */
async function holdsOnly(t: Test, url: string, model: ReturnType<typeof createModel>, now: number): Promise<void> {
  const redis = new Redis(url);
  for (const key of model.keys()) {
    const name = `coffer:limit:${key}`;
    const times = (await redis.lrange(name, 0, -1)).map(Number).toReversed();
    const live = model.accepted(key).filter((time) => now - time < window);
    t.strictSame(
      times.filter((time) => now - time < window),
      live,
      `${key} holds what was accepted`,
    );
    if (times.length > 0) t.ok(expires(await redis.pttl(name)), `${key} expires`);
  }
  redis.disconnect();
}
