import { type ServiceName, serviceNames } from "@coffer/events";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { connectRedis, redisAcl, redisUsers } from "../src/index.ts";
import { connected, startLimiter } from "./limiters.ts";
import { shardedCluster } from "./shards.ts";

const passwords = Object.fromEntries(serviceNames.map((name) => [name, `of-${name}`])) as Record<ServiceName, string>;

await t.test("limiters share the counts of a cluster, also after a shard has lost its primary", async (t) => {
  const cluster = await shardedCluster(t, (version) =>
    redisAcl({ users: redisUsers(passwords), ownerPassword: "the-password-of-the-owner", version }),
  );
  const url = cluster.urlOf("vaults", passwords.vaults);
  const limiters = [startLimiter(t, { redis: url }), startLimiter(t, { redis: url })];
  const redis = connectRedis(url);
  t.teardown(() => redis.disconnect());
  await Promise.all(limiters.map(connected));
  const addresses = Array.from({ length: 12 }, (_, at) => `203.0.113.${at}`);
  /** Whether two limiters in turn accept so many of four requests of each address. The limit is five. */
  async function accept(ips: readonly string[], expected: number): Promise<boolean> {
    const counts = await Promise.all(
      ips.map(async (ip) => {
        let count = 0;
        for (const limiter of [...limiters, ...limiters]) if ((await limiter.take("strict", ip)).accepted) count += 1;
        return count;
      }),
    );
    return counts.every((count) => count === expected);
  }
  let rounds = 0;
  const shareCounts = () =>
    until(
      "new addresses are counted in Redis, on each shard",
      async () => {
        rounds += 1;
        const others = addresses.map((_, at) => `10.${rounds >> 8}.${rounds % 256}.${at}`);
        return (await accept(others, 4)) && (await accept(others, 1));
      },
      30,
    );
  await shareCounts();
  t.ok(await accept(addresses, 4));
  const clientOf = (store: { url: string }): Redis => {
    const client = new Redis(store.url);
    client.on("error", () => undefined);
    t.teardown(() => client.disconnect());
    return client;
  };
  const sizes = await Promise.all(cluster.shards.map(({ primary }) => clientOf(primary).dbsize()));
  t.ok(
    sizes.every((size) => size > 0),
    `each shard has some of the addresses: ${sizes.join()}`,
  );

  const { primary, replica } = await cluster.shardOf("coffer:limit:since");
  const promoted = clientOf(replica);
  const offset = async (client: Redis): Promise<string> =>
    /^(?:master|slave)_repl_offset:\d+/gm.exec(await client.info("replication"))?.[0].replace(/\D/g, "") ?? "none";
  const before = clientOf(primary);
  await until("the replica has the entries", async () => (await offset(promoted)) === (await offset(before)));
  primary.kill();
  await shareCounts();
  t.equal(((await promoted.role()) as [string])[0], "master");
  t.ok(await accept(addresses, 1), "what was counted before counts on");
  await until("other commands work", () =>
    redis.get("coffer:lost-memberships").then(
      () => true,
      () => false,
    ),
  );
});
