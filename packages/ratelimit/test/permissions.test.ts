import { lostMembershipsKey, revokedSessionsKey, type ServiceName, serviceNames } from "@coffer/events";
import { testRedis, until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { connectRedis, redisAcl, type RedisClient, redisPermission, redisUsers } from "../src/index.ts";
import { limits, startLimiter } from "./limiters.ts";

const server = await testRedis(t);
const clients = new Map<ServiceName, RedisClient>(
  serviceNames.map((name) => {
    const client = connectRedis(server.urls[name]);
    t.teardown(() => client.disconnect());
    return [name, client];
  }),
);
await until("every user is connected", () => [...clients.values()].every(({ status }) => status === "ready"));

/** Whether the server lets a service run a command. Any other error means that it did. */
async function may(service: ServiceName, ...[command, ...args]: [string, ...string[]]): Promise<boolean> {
  try {
    await clients.get(service)?.call(command, ...args);
    return true;
  } catch (error) {
    return !(error instanceof Error && error.message.startsWith("NOPERM"));
  }
}

for (const service of serviceNames)
  await t.test(`the limiter of ${service} counts in Redis`, async (t) => {
    const limiter = startLimiter(t, { redis: server.urls[service] });
    await until("the limiter counts in Redis", () => !limiter.degraded);
    t.match(await limiter.take("strict", `192.0.2.${serviceNames.indexOf(service) + 1}`), {
      accepted: true,
      remaining: limits.strict - 1,
    });
    t.notOk(limiter.degraded);
  });

const readersOfRevoked: readonly ServiceName[] = ["vaults", "sync", "siem-forwarder", "scanner"];

for (const service of serviceNames)
  await t.test(`${service} reads and writes its own keys only`, async (t) => {
    const writes = service === "auth-sm";
    t.equal(await may(service, "ZADD", revokedSessionsKey, "1", "session"), writes, "ends a session");
    t.equal(await may(service, "ZREMRANGEBYSCORE", revokedSessionsKey, "-inf", "0"), writes, "drops ended sessions");
    t.equal(await may(service, "SET", lostMembershipsKey, "[]", "PX", "1000"), writes, "writes lost memberships");
    const readsRevoked = readersOfRevoked.includes(service);
    t.equal(await may(service, "ZRANGE", revokedSessionsKey, "0", "+inf", "BYSCORE"), readsRevoked, "ended sessions");
    t.equal(await may(service, "GET", lostMembershipsKey), service === "vaults", "reads lost memberships");
    for (const key of [revokedSessionsKey, lostMembershipsKey]) {
      t.equal(await may(service, "SET", key, "x"), writes, `replaces ${key}`);
      t.equal(await may(service, "DEL", key), writes, `deletes ${key}`);
    }
    for (const key of ["coffer:limit", "coffer:other", "other"]) {
      t.notOk(await may(service, "GET", key), `reads ${key}`);
      t.notOk(await may(service, "SET", key, "x"), `writes ${key}`);
      const inScript = ["EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", key] as const;
      t.notOk(await may(service, ...inScript), `writes ${key} in a script`);
      const undeclared = ["EVAL", `return redis.call('SET', '${key}', 'x')`, "1", "coffer:limit:a"] as const;
      await t.rejects(async () => clients.get(service)?.call(...undeclared), `writes ${key} behind another key's name`);
    }
  });

for (const service of serviceNames)
  await t.test(`${service} cannot administer the server or monitor other clients`, async (t) => {
    for (const command of [
      ["CONFIG", "GET", "*"],
      ["CONFIG", "SET", "dir", "/tmp"],
      ["ACL", "LIST"],
      ["ACL", "SETUSER", service, "+@all"],
      ["FLUSHALL"],
      ["KEYS", "*"],
      ["SCAN", "0"],
      ["MONITOR"],
      ["SHUTDOWN"],
      ["SAVE"],
      ["REPLICAOF", "127.0.0.1", "1"],
      ["MODULE", "LIST"],
      ["CLIENT", "LIST"],
      ["SCRIPT", "FLUSH"],
      ["PUBLISH", "channel", "x"],
      ["SUBSCRIBE", "channel"],
      ["FUNCTION", "LIST"],
    ] as [string, ...string[]][])
      t.notOk(await may(service, ...command), command.join(" "));
  });

await t.test("a wrong password, another user's password or none lets no client in", async (t) => {
  const { "auth-sm": auth, vaults } = server.urls;
  const wrong = new URL(auth);
  wrong.password = "wrong";
  const other = new URL(auth);
  other.password = new URL(vaults).password;
  const none = new URL(auth);
  none.username = none.password = "";
  for (const url of [wrong, other, none]) {
    const client = new Redis(url.href, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined);
    await t.rejects(
      client.connect().then(() => client.get("coffer:limit:a")),
      /WRONGPASS|NOAUTH|closed/,
    );
    client.disconnect();
  }
});

await t.test("the lines hold no password, and Redis 6 gets keys that it understands", (t) => {
  const passwords = Object.fromEntries(serviceNames.map((name) => [name, `pw-${name}`])) as Record<ServiceName, string>;
  const users = redisUsers(passwords);
  const [newer, older] = [7, 6].map((version) => redisAcl({ users, ownerPassword: "pw-owner", version }).join("\n"));
  t.notMatch(`${newer}${older}`, "pw-");
  t.match(newer, `%R~${lostMembershipsKey}`);
  t.notMatch(older, "%");
  t.match(older, `~${lostMembershipsKey}`);
  t.match(redisAcl({ users, version: 7 })[0], /^user default reset off$/);
  for (const service of serviceNames) t.same(redisPermission(service).readWrite, ["coffer:limit:*"]);
  t.end();
});
