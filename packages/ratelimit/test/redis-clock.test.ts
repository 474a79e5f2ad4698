import { testRedis } from "@coffer/testkit";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { connected, limits, startLimiter, window } from "./limiters.ts";

const address = "203.0.113.1";

await t.test("windows are measured with the clock of Redis", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url, windowSeconds: 1 });
  await connected(limiter);
  const fill = async (from: string) => {
    const started = performance.now();
    const decisions = [];
    for (let n = 0; n <= limits.strict; n++) decisions.push(await limiter.take("strict", from));
    return { from, started, filled: performance.now(), decisions };
  };
  // A stalled machine may need longer than a window once.
  let last = await fill(address);
  for (let n = 2; n <= 3 && last.filled - last.started >= 1_000; n++) last = await fill(`203.0.113.${n}`);
  const { from, started, filled, decisions } = last;
  const accepted = Array.from({ length: limits.strict }, (_, n) => ({
    accepted: true,
    remaining: limits.strict - 1 - n,
    resetSeconds: 1,
    retryAfterSeconds: 0,
  }));
  t.match(decisions, [...accepted, { accepted: false, remaining: 0, resetSeconds: 1, retryAfterSeconds: 1 }]);
  while (!(await limiter.take("strict", from)).accepted);
  const waited = performance.now();
  t.ok(waited - started >= 999, `not before the window is over: ${waited - started} ms`);
  t.ok(waited - filled < 10_000, `not a window of the usual length: ${waited - filled} ms`);
  t.notOk(limiter.degraded);
});

await t.test("keys are canonical, short, and expire", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url });
  await connected(limiter);
  for (const ip of ["203.0.113.1", "::ffff:203.0.113.1", "2001:db8::1", "2001:db8::2", "x".repeat(10_000), ""])
    await limiter.take("standard", ip);
  const client = new Redis(redis.url);
  t.teardown(() => client.disconnect());
  const keys = (await client.keys("*")).toSorted();
  t.strictSame(keys, [
    "coffer:limit:since",
    "coffer:limit:standard:2001:db8::/64",
    "coffer:limit:standard:203.0.113.1",
    "coffer:limit:standard:unknown",
  ]);
  for (const key of keys.slice(1)) {
    const left = await client.pttl(key);
    t.ok(left > 0 && left <= 61_000, `${key} expires in ${left} ms`);
  }
});

await t.test("a flushed script cache is no outage", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url });
  await connected(limiter);
  t.match(await limiter.take("strict", address), { remaining: 4 });
  const client = new Redis(redis.url);
  await client.script("FLUSH");
  client.disconnect();
  t.match(await limiter.take("strict", address), { remaining: 3 });
  t.notOk(limiter.degraded);
});

/** Fills the strict bucket by one replica; returns another one whose Redis clock is `step` later. */
async function afterStep(t: Test, step: number) {
  const redis = await testRedis(t);
  let now = 1_800_000_000_000_000;
  const before = startLimiter(t, { redis: redis.url, clock: () => now });
  await connected(before);
  for (let i = 0; i < limits.strict; i++) await before.take("strict", address);
  before.close();
  now += step;
  const limiter = startLimiter(t, { redis: redis.url, clock: () => now });
  await connected(limiter);
  return { limiter, pass: (time: number) => (now += time) };
}

await t.test("a clock that is set back refuses requests for at most a window and the step", async (t) => {
  const step = 10_000_000;
  const { limiter, pass } = await afterStep(t, -step);
  t.match(await limiter.take("strict", address), { accepted: false, retryAfterSeconds: 60 });
  pass(step + window - 1);
  t.match(await limiter.take("strict", address), { accepted: false, retryAfterSeconds: 1 });
  pass(1);
  t.match(await limiter.take("strict", address), { accepted: true, remaining: 4 });
});

await t.test("acceptances of a clock that was far ahead are forgotten", async (t) => {
  const { limiter } = await afterStep(t, -24 * 60 * window);
  t.match(await limiter.take("strict", address), { accepted: true, remaining: 4, resetSeconds: 60 });
});

await t.test("each decision is counted once, by bucket", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url });
  await connected(limiter);
  for (let i = 0; i < limits.strict + 3; i++) await limiter.take("strict", address);
  await limiter.take("user", address);
  const count = (labels: string): Promise<number> => limiter.metric("coffer_ratelimit_decisions_total", labels);
  t.equal(await count('bucket="strict",decision="accepted"'), limits.strict);
  t.equal(await count('bucket="strict",decision="refused"'), 3);
  t.equal(await count('bucket="user",decision="accepted"'), 1);
});

await t.test("a limit that was lowered refuses until enough acceptances have left the window", async (t) => {
  const redis = await testRedis(t);
  let now = 1_800_000_000_000_000;
  const before = startLimiter(t, { redis: redis.url, clock: () => now });
  await connected(before);
  now += window;
  for (let i = 0; i < 5; i++) {
    await before.take("strict", address);
    now += 1_000_000;
  }
  const after = startLimiter(t, { redis: redis.url, clock: () => now, limits: { ...limits, strict: 2 } });
  await connected(after);
  t.match(await after.take("strict", address), { accepted: false, limit: 2, retryAfterSeconds: 58 });
  now += 58_000_000;
  t.match(await after.take("strict", address), { accepted: true, remaining: 0 });
});
