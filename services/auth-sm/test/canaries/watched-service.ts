import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import { serve } from "@coffer/http";
import { startNats, startPostgres, startRedis, withoutDurability } from "@coffer/stores";
import { createTelemetry } from "@coffer/telemetry";
import { type Clock, createClock, testDirectory, type TestScope, until } from "@coffer/testkit";
import { testTraces } from "@coffer/testkit/traces";
import { Redis } from "ioredis";
import { migrateService } from "../../src/migrate.ts";
import { createService } from "../../src/service.ts";
import { observeBus, type Observer } from "../support/observer.ts";
import { configOf } from "../support/service.ts";

/** auth-sm with all that it says anywhere. */
export interface WatchedService {
  url: string;
  clock: Clock;
  observer: Observer;
  postgres: { url: string };
  redis: { url: string };
  /**
   * What was said until now: the service's log at its most verbose, its metrics, its spans, which
   * end with it, the logs of the stores.
   */
  said(): Promise<Record<"log" | "metrics" | "traces" | "log of Postgres" | "log of NATS" | "log of Redis", string>>;
}

/** NATS logs whatever goes over it, with its payload. */
export async function startWatched(t: TestScope): Promise<WatchedService> {
  const traces = await testTraces(t, "auth-sm");
  const [postgresDirectory, natsDirectory, redisDirectory] = [testDirectory(t), testDirectory(t), testDirectory(t)];
  const settings = { ...withoutDurability, log_connections: "on", log_error_verbosity: "verbose" };
  const postgres = await startPostgres({ directory: postgresDirectory, settings });
  t.teardown(() => postgres.stop());
  const passwords = Object.fromEntries(
    serviceNames.map((name) => [name, randomBytes(18).toString("base64url")]),
  ) as Record<ServiceName, string>; // made from the list of names
  const config = natsServerConfig({ users: natsUsers(passwords), host: "127.0.0.1", port: 4222 });
  const server = await startNats({ directory: natsDirectory, config: `${config}\ndebug: true\ntrace: true\n` });
  t.teardown(() => server.stop());
  const credentials = Object.fromEntries(
    serviceNames.map((name) => [name, { user: name, password: passwords[name] }]),
  ) as Record<ServiceName, { user: string; password: string }>; // as above
  const redisServer = await startRedis({ directory: redisDirectory });
  t.teardown(() => redisServer.stop());
  const commands = new Redis(redisServer.url);
  await commands.config("SET", "loglevel", "debug");
  commands.disconnect();
  const unused = (): Promise<void> => Promise.reject(new Error("this test does not stop its stores"));
  const nats = { url: server.url, credentials, stop: unused, kill: unused, start: unused };
  const redis = { url: redisServer.url, stop: unused, kill: unused, start: unused };
  await migrateService({ url: postgres.url });
  const observer = await observeBus(t, nats);
  const clock = createClock();
  const { registry } = createTelemetry({ service: "auth-sm", level: "silent" }).metrics;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const service = createService(
    configOf({ postgres, nats, redis }, { COFFER_LOG_LEVEL: "trace" }),
    { registry, destination },
    { now: clock.now },
  );
  t.teardown(() => service.close());
  const { url, close } = await serve(service.listener, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  t.teardown(close);
  await until("the stores", async () => (await service.ready()).degraded === false);
  const said = async () => ({
    log: lines.join(""),
    metrics: await registry.metrics(),
    traces: (await traces()).text(),
    "log of Postgres": readFileSync(`${postgresDirectory}/log`, "utf8"),
    "log of NATS": readFileSync(`${natsDirectory}/log`, "utf8"),
    "log of Redis": readFileSync(`${redisDirectory}/log`, "utf8"),
  });
  return { url, clock, observer, postgres, redis, said };
}
