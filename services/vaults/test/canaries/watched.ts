import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import { serve } from "@coffer/http";
import { startNats, startPostgres, startRedis, withoutDurability } from "@coffer/stores";
import { createTelemetry } from "@coffer/telemetry";
import { testDirectory, type TestScope, until } from "@coffer/testkit";
import { testTraces } from "@coffer/testkit/traces";
import { Redis } from "ioredis";
import { migrateService } from "../../src/migrate.ts";
import { createService } from "../../src/service.ts";
import { type Listeners, startListeners } from "../support/listeners.ts";
import { type People, startPeople } from "../support/people.ts";
import { configOf } from "../support/service.ts";

/** A service with all its output. */
export interface Watched {
  url: string;
  people: People;
  listeners: Listeners;
  postgres: { url: string };
  /**
   * All output until now: the service's log at trace level, metrics, spans (which ends it), the
   * stores' logs.
   */
  said(): Promise<Record<"log" | "metrics" | "traces" | "log of Postgres" | "log of NATS" | "log of Redis", string>>;
}

/** NATS logs each message with its payload; Postgres logs each statement that fails. */
export async function startWatched(t: TestScope): Promise<Watched> {
  const traces = await testTraces(t, "vaults");
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
  ) as Record<ServiceName, { user: string; password: string }>; // made from the list of names
  const redisServer = await startRedis({ directory: redisDirectory });
  t.teardown(() => redisServer.stop());
  const commands = new Redis(redisServer.url);
  await commands.config("SET", "loglevel", "debug");
  commands.disconnect();
  const unused = (): Promise<void> => Promise.reject(new Error("this test does not stop its stores"));
  const nats = { url: server.url, credentials, stop: unused, kill: unused, start: unused };
  const redis = { url: redisServer.url, stop: unused, kill: unused, start: unused };
  await migrateService({ url: postgres.url });
  const [people, listeners] = await Promise.all([startPeople(t, nats), startListeners(t, nats)]);
  const { registry } = createTelemetry({ service: "vaults", level: "silent" }).metrics;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const service = createService(configOf({ postgres, nats, redis }, { COFFER_LOG_LEVEL: "trace" }), {
    registry,
    destination,
  });
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
  return { url, people, listeners, postgres, said };
}
