import { testRedis, until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { connectRedis } from "../src/index.ts";

await t.test("a command fails at once while Redis is away, and works again by itself", async (t) => {
  const server = await testRedis(t);
  const redis = connectRedis(server.url);
  t.teardown(() => redis.disconnect());
  await until("it is connected", () => redis.status === "ready");
  t.equal(await redis.set("key", "value"), "OK");
  await server.kill();
  await until("it has noticed", () => redis.status !== "ready");
  const late = new Promise((resolve) => setTimeout(resolve, 1000, "late"));
  t.equal(await Promise.race([redis.get("key").catch(() => "failed"), late]), "failed");
  await server.start();
  await until("it is connected again", () => redis.status === "ready");
  t.equal(await redis.set("key", "value"), "OK");
});

await t.test("a command fails after 50 ms when Redis does not answer", async (t) => {
  const server = await testRedis(t);
  const redis = connectRedis(server.url);
  const other = new Redis(server.url);
  t.teardown(() => {
    redis.disconnect();
    other.disconnect();
  });
  await until("it is connected", () => redis.status === "ready");
  await other.client("PAUSE", 3000, "ALL");
  const late = new Promise((resolve) => setTimeout(resolve, 2000, "late"));
  t.equal(await Promise.race([redis.get("key").catch(() => "failed"), late]), "failed");
});
