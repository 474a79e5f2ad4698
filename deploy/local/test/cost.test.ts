import { resolve } from "node:path";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { createApp, type Route, serve } from "@coffer/http";
import { loadDescription } from "@coffer/openapi";
import { createLimiter, parseTrustedProxies } from "@coffer/ratelimit";
import { createTelemetry } from "@coffer/telemetry";
import { testRedis } from "@coffer/testkit";
import t from "tap";
import { checkout } from "../src/checkout.ts";
import { onBus, presentServices } from "../src/services/services.ts";
import { honestBody, hostileBodies, type HostileBody } from "./cost/hostile-bodies.ts";

// From the socket to the validated call, no body costs more than an honest one of its size and a fixed
// budget. Operations get whatever their schemas accept.
const mostMilliseconds = 100;
const mostBytes = 64 * 1024 * 1024;
const attempts = 4;
// Budget for all allowed tokens. More bytes cost no more than an honest body: only text, or in a rotation
// values of the same density.
const ordinaryBytes = 256 * 1024;
const largestBytes = 2 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
let kept = 0;

/**
 * Frees what earlier bodies left, once it is an eighth of the budget. A collection costs more than
 * most bodies.
 */
function collectGarbage(): void {
  if (process.memoryUsage().heapUsed < kept + mostBytes / 8) return;
  collect();
  kept = process.memoryUsage().heapUsed;
}

/** The routes with a JSON body of every service, smallest bodies first: the peak of memory only grows. */
async function routesWithBodies(): Promise<Route<object>[]> {
  const tables = await Promise.all(
    onBus(presentServices()).map(async ({ name }) => {
      const file = resolve(checkout, "services", name, "src/routes.ts");
      return (await import(pathToFileURL(file).href)) as { routes: Route<object>[] }; // what every service exports
    }),
  );
  return tables
    .flatMap(({ routes }) => routes)
    .filter(({ body }) => body !== undefined && body !== "raw")
    .toSorted((one, other) => one.bodyLimitBytes - other.bodyLimitBytes);
}

/** The row without its operation: the part that every caller can reach. */
function withoutOperation(row: Route<object>): Route<object> {
  const run = () => Promise.resolve({});
  return { ...row, caller: () => ({}), lazy: false, params: undefined, query: undefined, permit: undefined, run };
}

const rows = await routesWithBodies();
const redis = await testRedis(t);
const destination = new Writable({ write: (_chunk, _encoding, done) => done() });
const telemetry = createTelemetry({ service: "cost", destination });
const limits = { strict: 1_000_000, standard: 1_000_000, user: 1_000_000 };
const limiter = createLimiter({ redis: redis.url, limits, windowSeconds: 60, replicas: 1, metrics: telemetry.metrics });
t.teardown(() => limiter.close());
const app = createApp({
  service: "cost",
  routes: rows.map(withoutOperation),
  deps: {},
  limiter,
  trustedProxies: parseTrustedProxies([]),
  corsOrigins: [],
  telemetry,
});
const serving = await serve(app, { host: "127.0.0.1", port: 0, drainSeconds: 1 });
t.teardown(() => serving.close());

interface Cost {
  status: number;
  milliseconds: number;
  /** The growth of the process's peak of memory. */
  bytes: number;
}

/** Sends a body and measures the process, which is client and server: sending costs equal for one size. */
async function costOf({ method, path }: Route<object>, body: Uint8Array<ArrayBuffer>, coding: string): Promise<Cost> {
  const peak = process.resourceUsage().maxRSS;
  const before = process.cpuUsage();
  const url = serving.url + path.replaceAll(/:\w+/g, "x");
  const headers = { "content-type": "application/json", "content-encoding": coding };
  const answer = await fetch(url, { method, headers, body });
  await answer.arrayBuffer();
  const { user, system } = process.cpuUsage(before);
  const grown = process.resourceUsage().maxRSS - peak;
  return { status: answer.status, milliseconds: (user + system) / 1000, bytes: grown * 1024 };
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const operations = new Map(loadDescription().operations.map((each) => [`${each.method} ${each.path}`, each]));

for (const row of rows) {
  const name = `${row.method} ${row.path.replaceAll(/:(\w+)/g, "{$1}")}`;
  await t.test(`${name}: no body costs much more than an honest one of its size`, async (t) => {
    const example = operations.get(name)?.body?.examples[0];
    const isOrdinary = row.bodyLimitBytes <= 1024 * 1024;
    const limit = Math.min(row.bodyLimitBytes, isOrdinary ? ordinaryBytes : largestBytes);
    const tokens = Math.max(50_000, (limit / 1024) * row.tokensPerKibibyte);

    const honest = (bytes: number) => bytesOf(honestBody(example, bytes));

    async function check({ title, text }: HostileBody, coding: "identity" | "gzip"): Promise<void> {
      const body = coding === "gzip" ? new Uint8Array(gzipSync(text)) : bytesOf(text);
      collectGarbage();
      const first = await costOf(row, body, coding);
      if (![200, 201, 204, 400, 413].includes(first.status)) t.fail(`${title} (${coding}): answered ${first.status}`);
      // The peak grows once: the first measurement counts. An honest body of the limit is sent before it.
      if (first.bytes > mostBytes) t.fail(`${title} (${coding}): ${Math.round(first.bytes / 1024 / 1024)} MiB more`);
      // Other processes use this machine too: the least measurement counts.
      let excess = first.milliseconds;
      for (let attempt = 0; attempt < attempts && excess > mostMilliseconds; attempt++) {
        const usual = await costOf(row, honest(Math.min(limit, body.length)), "identity");
        excess = Math.min(excess, (await costOf(row, body, coding)).milliseconds - usual.milliseconds);
      }
      if (excess > mostMilliseconds) t.fail(`${title} (${coding}): ${Math.round(excess)} ms of CPU more`);
    }

    t.ok(example !== undefined, "it has an example");
    await costOf(row, honest(limit), "identity");
    const bodies = hostileBodies(example, limit, tokens);
    for (const body of bodies) await check(body, "identity");
    // Anonymous callers may not compress. Inflated bodies are checked like others: once for each kind.
    for (const body of bodies.filter(({ title }) => row.gzip && title.endsWith("at the top")))
      await check(body, "gzip");
    t.comment(`${bodies.length} bodies`);
  });
}
