import { Writable } from "node:stream";
import { createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import { createTelemetry } from "@coffer/telemetry";
import { testRedis } from "@coffer/testkit";
import { type App, type AppOptions, createApp, type Route, serve, type Serving, type Timeouts } from "../src/index.ts";

interface Scope {
  teardown(work: () => unknown): unknown;
}

export interface TestApp extends Serving {
  /** All log lines so far. */
  logged(): string;
  /** The listener, for a server of the test. */
  app: App;
  /** The metrics in the text format. */
  metrics(): Promise<string>;
}

type Options<Caller> = Partial<Omit<AppOptions<object, Caller>, "routes" | "telemetry">> & {
  drainSeconds?: number;
  timeouts?: Timeouts;
};

/**
 * Serves routes with a limiter on a Redis of the test: five strict requests in 60 s, many others. The
 * test is a trusted proxy, so that it can choose its address.
 */
export async function startApp<Caller>(
  t: Scope,
  routes: readonly Route<object, Caller>[],
  { drainSeconds = 2, timeouts, ...options }: Options<Caller> = {},
): Promise<TestApp> {
  const redis = await testRedis(t);
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  const telemetry = createTelemetry({ service: "test", destination, level: "debug" });
  const limits = { strict: 5, standard: 100_000, user: 100_000 };
  const limiter = createLimiter({
    redis: redis.url,
    limits,
    windowSeconds: 60,
    replicas: 1,
    metrics: telemetry.metrics,
  });
  t.teardown(() => limiter.close());
  const app = createApp({
    service: "test",
    routes,
    deps: {},
    limiter,
    trustedProxies: parseTrustedProxies(["127.0.0.0/8"]),
    corsOrigins: ["https://vault.example"],
    telemetry,
    ...options,
  });
  const serving = await serve(app, { host: "127.0.0.1", port: 0, drainSeconds, ...(timeouts && { timeouts }) });
  t.teardown(() => serving.close());
  return { ...serving, app, logged: () => lines.join(""), metrics: () => telemetry.metrics.registry.metrics() };
}
