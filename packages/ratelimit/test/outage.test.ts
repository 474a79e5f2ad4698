import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createRandom, testRedis, until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { nextArrival } from "./arrivals.ts";
import { cutNetwork } from "./cut-network.ts";
import { createOwnCount } from "../src/index.ts";
import { connected, limits, startLimiter, window, windowSeconds } from "./limiters.ts";
import { createModel, mostInOneWindow } from "./model.ts";

const address = "203.0.113.1";

/** One replica and the model; `flow` sends requests until `done`, at least 150. */
function oneReplica(t: Test, redis: string, seed: number) {
  let now = 1_800_000_000_000_000;
  const few = { strict: 5, standard: 12, user: 300 };
  const limiter = startLimiter(t, { redis, limits: few, clock: () => now });
  const random = createRandom(seed);
  const model = createModel(window);

  async function flow(done: () => boolean): Promise<void> {
    for (let step = 0; step < 150 || !done(); step++) {
      const bucket = random.chance(0.5) ? "standard" : "strict";
      if (random.chance(0.5)) now = nextArrival(random.next, now, model.accepted("strict").slice(-few.strict));
      const [expected] = model.take(bucket, few[bucket], now, 1);
      const decision = await limiter.take(bucket, address);
      if (decision.accepted !== expected?.accepted) throw new Error(`${bucket} at ${now} was decided wrongly`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const reached = (bucket: "strict" | "standard"): boolean =>
    mostInOneWindow(model.accepted(bucket), window) === few[bucket];
  return { limiter, flow, reached };
}

await t.test("one replica stays exact while Redis is killed and comes back empty", async (t) => {
  const redis = await testRedis(t);
  const { limiter, flow, reached } = oneReplica(t, redis.url, 7);
  await connected(limiter);
  for (let round = 0; round < 4; round++) {
    await flow(() => true);
    const killed = redis.kill();
    await flow(() => limiter.degraded);
    await killed;
    t.equal(await limiter.metric("coffer_ratelimit_degraded"), 1, "the metric shows the outage");
    const started = redis.start();
    await flow(() => !limiter.degraded);
    await started;
    t.equal(await limiter.metric("coffer_ratelimit_degraded"), 0, "the metric shows the end of the outage");
  }
  t.ok(reached("strict") && reached("standard"), "both limits were reached");
});

await t.test("one replica stays exact while the network to Redis is cut and Redis does not lose its log", async (t) => {
  const redis = await testRedis(t);
  const network = await cutNetwork(t, redis.url);
  const { limiter, flow, reached } = oneReplica(t, network.url, 8);
  await connected(limiter);
  for (let round = 0; round < 6; round++) {
    await flow(() => true);
    network.cut();
    await flow(() => limiter.degraded);
    network.mend();
    await flow(() => !limiter.degraded);
  }
  t.ok(reached("strict") && reached("standard"), "both limits were reached");
});

await t.test("one replica stays exact while Redis refuses writes because its disk is full", async (t) => {
  const redis = await testRedis(t);
  const admin = new Redis(redis.url);
  t.teardown(() => admin.disconnect());
  const { limiter, flow, reached } = oneReplica(t, redis.url, 9);
  await connected(limiter);
  // A server that cannot save its data: it answers MISCONF to every write (stop-writes-on-bgsave-error).
  const [, directory] = (await admin.config("GET", "dir")) as [string, string];
  // A server that root starts runs as another user, without write access here.
  chmodSync(directory, 0o770);
  const place = join(directory, "dump.rdb");
  const saved = async (as: "ok" | "err"): Promise<void> => {
    await admin.bgsave();
    await until(`a save that ends: ${as}`, async () =>
      (await admin.info("persistence")).includes(`rdb_last_bgsave_status:${as}\r\nrdb_last`),
    );
  };
  await admin.config("SET", "save", "86400 1000000");
  for (let round = 0; round < 2; round++) {
    await flow(() => true);
    mkdirSync(place);
    await saved("err");
    await t.rejects(admin.set("x", "y"), { message: /^MISCONF/ });
    await flow(() => limiter.degraded);
    t.equal(await limiter.metric("coffer_ratelimit_degraded"), 1, "the metric shows it");
    rmSync(place, { recursive: true });
    await saved("ok");
    rmSync(place);
    await flow(() => !limiter.degraded);
  }
  t.ok(reached("strict") && reached("standard"), "both limits were reached");
});

await t.test("a connection without a response is replaced", async (t) => {
  const redis = await testRedis(t);
  const network = await cutNetwork(t, redis.url);
  const limiter = startLimiter(t, { redis: network.url, deadlineMilliseconds: 45 });
  await connected(limiter);
  network.freeze();
  t.match(await limiter.take("strict", address), { accepted: true, remaining: 4 });
  t.ok(limiter.degraded);
  await connected(limiter);
  t.match(await limiter.take("strict", address), { accepted: true, remaining: 3 });
});

await t.test("concurrent requests do not exceed the share of a replica whose Redis has lost the log", async (t) => {
  const redis = await testRedis(t);
  const now = 1_800_000_000_000_000;
  const limiter = startLimiter(t, { redis: redis.url, clock: () => now });
  await connected(limiter);
  for (let i = 0; i < limits.strict - 1; i++) t.ok((await limiter.take("strict", address)).accepted);
  await redis.kill();
  await until("the limiter has noticed", () => limiter.degraded);
  await redis.start();
  await connected(limiter);
  const decisions = await Promise.all(Array.from({ length: 10 }, () => limiter.take("strict", address)));
  t.equal(decisions.filter(({ accepted }) => accepted).length, 1);
});

await t.test("a Redis that hangs costs the first request less than 50 ms and the next ones nothing", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url, deadlineMilliseconds: undefined });
  await connected(limiter);
  const other = new Redis(redis.url);
  t.teardown(() => other.disconnect());
  await other.client("PAUSE", 1500, "ALL");

  const first = limiter.take("strict", address);
  // Both wait in one process from the sending of the command: late timers change nothing.
  const late = new Promise((resolve) =>
    setImmediate(() => setTimeout(() => setImmediate(() => setImmediate(resolve, "late")), 50)),
  );
  t.match(await Promise.race([first, late]), { accepted: true, limit: 5, remaining: 4 });
  t.ok(limiter.degraded);
  t.equal(await limiter.metric("coffer_ratelimit_degraded"), 1);
  const turn = new Promise((resolve) => setImmediate(resolve, "late"));
  t.match(await Promise.race([limiter.take("strict", address), turn]), { accepted: true, remaining: 3 });
  await connected(limiter);
  t.equal(await limiter.metric("coffer_ratelimit_degraded"), 0);
});

await t.test("a process that was busy for longer than the deadline is no outage", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url, deadlineMilliseconds: 200 });
  await connected(limiter);
  const decision = limiter.take("strict", address);
  await new Promise((resolve) => setImmediate(resolve)); // the command is sent
  const end = performance.now() + 400;
  while (performance.now() < end); // the reply waits in the socket
  t.match(await decision, { accepted: true, remaining: 4 });
  t.notOk(limiter.degraded);
});

await t.test("an event loop turn longer than the deadline, before the command is sent, is no outage", async (t) => {
  const redis = await testRedis(t);
  const limiter = startLimiter(t, { redis: redis.url, deadlineMilliseconds: 1_000 });
  await connected(limiter);
  const other = new Redis(redis.url);
  t.teardown(() => other.disconnect());
  // Its reply has not arrived when the command is sent.
  await other.client("PAUSE", 1_600, "ALL");
  const decision = limiter.take("strict", address);
  const end = performance.now() + 1_200;
  while (performance.now() < end); // the command is sent when this turn ends
  t.match(await decision, { accepted: true, remaining: 4 });
  t.notOk(limiter.degraded);
});

await t.test("no wait is longer than the window", async (t) => {
  const limiter = startLimiter(t, { redis: null });
  const keys = Array.from({ length: 1000 }, (_, at) => `user-${at}`);
  const decisions = await Promise.all(keys.map((key) => limiter.takeFor("strict", key)));
  t.same(new Set(decisions.map(({ resetSeconds }) => resetSeconds)), new Set([windowSeconds]));
});

await t.test("limiters of one process without Redis count together, exactly, and are not degraded", async (t) => {
  let now = 1_800_000_000_000_000;
  const ownCount = createOwnCount(windowSeconds);
  const services = Array.from({ length: 3 }, () => startLimiter(t, { redis: null, clock: () => now, ownCount }));
  const accepted = async (): Promise<number> => {
    let count = 0;
    for (let n = 0; n < limits.standard; n += 1) {
      now += 1000;
      const all = await Promise.all(services.map((limiter) => limiter.take("standard", address)));
      count += all.filter((decision) => decision.accepted).length;
    }
    return count;
  };
  t.equal(await accepted(), limits.standard);
  t.equal(await accepted(), 0);
  now += window;
  t.equal(await accepted(), limits.standard);
  for (const limiter of services) {
    t.notOk(limiter.degraded);
    t.equal(await limiter.metric("coffer_ratelimit_degraded"), 0);
  }
});

await t.test("limiters of one process that count together stay exact without Redis, and after it", async (t) => {
  const redis = await testRedis(t);
  let now = 1_800_000_000_000_000;
  const ownCount = createOwnCount(windowSeconds);
  const services = Array.from({ length: 3 }, () => startLimiter(t, { redis: redis.url, clock: () => now, ownCount }));
  await Promise.all(services.map(connected));
  const accepted = async (): Promise<number> => {
    let count = 0;
    for (let n = 0; n < limits.standard; n += 1) {
      now += 1000;
      const all = await Promise.all(services.map((limiter) => limiter.take("standard", address)));
      count += all.filter((decision) => decision.accepted).length;
    }
    return count;
  };
  await redis.kill();
  await until("all have noticed", () => services.every(({ degraded }) => degraded));
  t.equal(await accepted(), limits.standard);
  await redis.start();
  await Promise.all(services.map(connected));
  t.equal(await accepted(), 0, "Redis knows nothing of them");
  now += window;
  t.equal(await accepted(), limits.standard);
});

await t.test("no request fails while Redis is killed and started in the middle of a flow", async (t) => {
  const redis = await testRedis(t);
  const replicas = Array.from({ length: 2 }, () => startLimiter(t, { redis: redis.url, deadlineMilliseconds: 45 }));
  await Promise.all(replicas.map(connected));
  let flowing = true;
  let decided = 0;
  const flow = async (worker: number): Promise<void> => {
    for (let i = 0; flowing; i++) {
      const decision = await replicas[(worker + i) % 2]?.take("user", `10.0.${worker}.${i % 250}`);
      if (decision?.accepted === true) decided++;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const flows = Promise.all(Array.from({ length: 8 }, (_, worker) => flow(worker)));
  for (let round = 0; round < 2; round++) {
    const before = decided;
    await redis.kill();
    await until("both have noticed", () => replicas.every(({ degraded }) => degraded));
    await until("requests are decided without Redis", () => decided > before + 1000);
    await redis.start();
    await Promise.all(replicas.map(connected));
  }
  flowing = false;
  await t.resolves(flows);
});

await t.test(
  "several replicas accept at most twice the limit around an outage, and exactly the limit after it",
  async (t) => {
    const redis = await testRedis(t);
    let now = 1_800_000_000_000_000;
    const replicas = Array.from({ length: 3 }, () =>
      startLimiter(t, { redis: redis.url, replicas: 3, clock: () => now }),
    );
    await Promise.all(replicas.map(connected));
    now += window;
    const times: number[] = [];

    /** Each replica gets more requests than the limit, over `seconds`. Returns how many were accepted. */
    async function storm(seconds: number): Promise<number> {
      const before = times.length;
      for (let second = 0; second < seconds; second++) {
        for (const { accepted } of await Promise.all(replicas.map((replica) => replica.take("standard", address))))
          if (accepted) times.push(now);
        now += 1_000_000;
      }
      return times.length - before;
    }

    t.equal(await storm(30), limits.standard);
    await redis.kill();
    await until("all have noticed", () => replicas.every(({ degraded }) => degraded));
    await storm(50);
    const alone = times.length;
    now += window;
    t.equal(await storm(30), limits.standard, "each replica accepts its share");
    t.equal(times.length - alone, 3 * 20);
    await redis.start();
    await Promise.all(replicas.map(connected));
    await storm(60);
    t.ok(mostInOneWindow(times, window) <= 2 * limits.standard, "never more than twice the limit");
    now += window;
    const after = times.length;
    await storm(130);
    t.equal(mostInOneWindow(times.slice(after), window), limits.standard, "exactly the limit from then on");
  },
);

await t.test("a share is at least one", async (t) => {
  const redis = await testRedis(t);
  await redis.stop();
  const limiter = startLimiter(t, { redis: redis.url, replicas: 7 });
  t.match(await limiter.take("strict", address), { accepted: true, limit: 5, remaining: 0 });
  t.match(await limiter.take("strict", address), { accepted: false, limit: 5, remaining: 0 });
  t.ok(limiter.degraded);
});

await t.test("a Redis with data from before a restart may have lost writes", async (t) => {
  const redis = await testRedis(t);
  let now = 1_800_000_000_000_000;
  const replicas = [1, 2].map(() => startLimiter(t, { redis: redis.url, replicas: 2, clock: () => now }));
  await Promise.all(replicas.map(connected));
  now += window;
  const [one] = replicas;
  if (one === undefined) throw new Error("two replicas");
  const client = new Redis(redis.url);
  const since = await client.get("coffer:limit:since");
  client.disconnect();
  await redis.kill();
  await until("both have noticed", () => replicas.every(({ degraded }) => degraded));
  await redis.start();
  const restored = new Redis(redis.url);
  await restored.set("coffer:limit:since", since ?? "");
  await Promise.all(replicas.map(connected));
  restored.disconnect();
  t.match(await one.take("strict", address), { accepted: true, remaining: 1 }, "its share, 2, for one window");
  now += window;
  t.match(await one.take("strict", address), { accepted: true, remaining: 4 }, "all of it after that");
});
