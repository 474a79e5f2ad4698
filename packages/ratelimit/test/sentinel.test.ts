import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { type ServiceName, serviceNames } from "@coffer/events";
import { connectRedis, redisAcl, redisUsers } from "../src/index.ts";
import { connected, startLimiter } from "./limiters.ts";
import { sentinelGroup } from "./sentinels.ts";

const passwords = Object.fromEntries(serviceNames.map((name) => [name, `of-${name}`])) as Record<ServiceName, string>;

await t.test("the limiter follows the primary that Sentinels choose, as a user of a service", async (t) => {
  const group = await sentinelGroup(t, (version) =>
    redisAcl({ users: redisUsers(passwords), ownerPassword: "the-password-of-the-owner", version }),
  );
  const url = group.urlOf("vaults", passwords.vaults);
  const limiter = startLimiter(t, { redis: url });
  const redis = connectRedis(url);
  t.teardown(() => redis.disconnect());
  await connected(limiter);
  for (let count = 0; count < 3; count += 1) t.ok((await limiter.take("strict", "203.0.113.1")).accepted);
  const replica = new Redis(group.replica.url);
  t.teardown(() => replica.disconnect());
  await until("the replica has the entries", async () => (await replica.keys("coffer:limit:*")).length > 1);

  group.primary.kill();
  await until("the limiter has noticed", () => limiter.degraded);
  t.ok((await limiter.take("strict", "203.0.113.2")).accepted, "a replica counts alone meanwhile");
  await until("the limiter counts in Redis again", () => !limiter.degraded, 60);
  const [role] = (await replica.role()) as [string];
  t.equal(role, "master");
  const decisions = [];
  for (let count = 0; count < 3; count += 1) decisions.push((await limiter.take("strict", "203.0.113.1")).accepted);
  t.same(decisions, [true, true, false], "what was counted before counts on");
  await until("other commands work", () =>
    redis.get("coffer:lost-memberships").then(
      () => true,
      () => false,
    ),
  );
});
