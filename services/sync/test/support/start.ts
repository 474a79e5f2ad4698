import { Writable } from "node:stream";
import { serve } from "@coffer/http";
import type { ServiceInstance } from "@coffer/service";
import { Registry } from "@coffer/telemetry";
import { type TestNats, testNats, type TestRedis, testRedis, type TestScope, until } from "@coffer/testkit";
import { readConfig } from "../../src/config.ts";
import { createService } from "../../src/service.ts";
import type { Timings } from "../../src/timings.ts";
import { type AuthSm, issuer, type Person, startAuthSm } from "./auth-sm.ts";
import { connectDevice, type Device, type DeviceOptions } from "./device.ts";
import { startVaults, type Vaults } from "./vaults.ts";

export interface Stores {
  nats: TestNats;
  redis: TestRedis;
}

export interface Replica {
  service: ServiceInstance;
  url: string;
  /** Its log. */
  logged(): string;
  /** Its metrics, as in a scrape. */
  metrics(): Promise<string>;
  /** Stops it as a process would. */
  close(drainSeconds?: number): Promise<void>;
}

/** A running service with the other services. */
export interface Sync extends Stores, Replica {
  authSm: AuthSm;
  vaults: Vaults;
  /** Connects a device of a person, by default with the token in the query. */
  connect(person: Person, options?: DeviceOptions, replica?: Replica): Promise<Device>;
}

/** Starts the service on a free port with real stores, and waits until they are connected. */
export async function startSync(
  t: TestScope,
  { timings = {}, environment = {} }: { timings?: Partial<Timings>; environment?: Record<string, string> } = {},
): Promise<Sync> {
  const [nats, redis] = await Promise.all([testNats(t), testRedis(t)]);
  const [authSm, vaults] = [await startAuthSm(t, nats), startVaults(t, nats)];
  const replica = await startReplica(t, { nats, redis }, { timings, environment });
  await until("all are on the bus", async () => {
    const { ready, degraded } = await replica.service.ready();
    return ready && degraded === false && authSm.bus.connected && vaults.bus.connected;
  });
  const connect: Sync["connect"] = async (person, options, { url } = replica) =>
    connectDevice(t, url, options ?? { token: await authSm.token(person) });
  return { nats, redis, authSm, vaults, connect, ...replica };
}

/** Starts another replica of the service. */
export async function startReplica(
  t: TestScope,
  { nats, redis }: Stores,
  { timings = {}, environment = {} }: { timings?: Partial<Timings>; environment?: Record<string, string> } = {},
): Promise<Replica> {
  const config = readConfig({
    COFFER_PORT: "0",
    COFFER_BASE_URL: issuer,
    COFFER_NATS_URL: nats.url,
    COFFER_NATS_CREDENTIALS: JSON.stringify(nats.credentials),
    COFFER_REDIS_URL: redis.urls.sync,
    COFFER_LIMIT_USER: "100000",
    COFFER_LOG_LEVEL: "trace",
    COFFER_DRAIN_SECONDS: "1",
    ...environment,
  });
  let text = "";
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const registry = new Registry();
  const service = createService(config, { registry, destination }, timings);
  const listener = Object.assign(
    (...[request, response]: Parameters<typeof service.listener>) => service.listener(request, response),
    { upgrade: service.upgrade },
  );
  const server = await serve(listener as Parameters<typeof serve>[0], { host: "127.0.0.1", port: 0, drainSeconds: 1 });
  let closing: Promise<void> | undefined;
  const end = async (seconds: number): Promise<void> => {
    await Promise.all([server.close(), service.drain?.(seconds)]);
    await service.close();
  };
  const close = (seconds = 0): Promise<void> => (closing ??= end(seconds));
  t.teardown(() => close());
  return { service, url: server.url, logged: () => text, metrics: () => registry.metrics(), close };
}
