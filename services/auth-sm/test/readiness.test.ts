import { createTelemetry } from "@coffer/telemetry";
import { testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import t from "tap";
import { migrateService } from "../src/migrate.ts";
import { createService } from "../src/service.ts";
import { configOf } from "./support/service.ts";

await t.test("the service is ready once its schema is there, and degraded without the bus or Redis", async (t) => {
  const [postgres, nats, redis] = await Promise.all([testPostgres(t, { own: true }), testNats(t), testRedis(t)]);
  const { registry } = createTelemetry({ service: "auth-sm", level: "silent" }).metrics;
  const service = createService(configOf({ postgres, nats, redis }), { registry });
  t.teardown(() => service.close());
  await until("the bus and Redis are connected", async () => !(await service.ready()).degraded);
  t.match(await service.ready(), { ready: false, checks: { postgres: "not migrated", nats: "ok", redis: "ok" } });
  await migrateService({ url: postgres.url });
  t.match(await service.ready(), { ready: true, degraded: false, checks: { postgres: "ok" } });

  await nats.stop();
  await until("the bus is away", async () => (await service.ready()).checks["nats"] === "down");
  t.match(await service.ready(), { ready: true, degraded: true });
  await nats.start();
  await redis.stop();
  await until("Redis is away", async () => (await service.ready()).checks["redis"] === "down");
  t.match(await service.ready(), { ready: true, degraded: true });
  await postgres.stop();
  t.match(await service.ready(), { ready: false, checks: { postgres: "down" } });
});
