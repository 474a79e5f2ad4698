import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { createTelemetry, type ManagementOptions, type Readiness, startManagement, version } from "../src/index.ts";
import { acceptsOpenMetrics } from "../src/accepts-open-metrics.ts";
import { createReadinessCheck } from "../src/readiness.ts";

const ready: Readiness = { ready: true, checks: { postgres: "ok" } };

async function management(t: { teardown(work: () => unknown): unknown }, options: Partial<ManagementOptions> = {}) {
  const started = await startManagement({
    host: "127.0.0.1",
    port: 0,
    telemetry: createTelemetry({ service: "vaults" }),
    readiness: () => Promise.resolve(ready),
    ...options,
  });
  t.teardown(() => started.close());
  return started;
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  const text = await response.text();
  return { status: response.status, type: response.headers.get("content-type"), text, headers: response.headers };
}

async function json(url: string): Promise<[number, unknown]> {
  const { status, text } = await get(url);
  return [status, JSON.parse(text)];
}

void t.test("the process is live without its dependencies", async (t) => {
  const { url } = await management(t, { readiness: () => Promise.reject(new Error("away")) });
  t.same(await json(`${url}/livez`), [200, { status: "ok" }]);
});

void t.test("ready, degraded and not ready are distinguished", async (t) => {
  const cases: [Readiness, number, string][] = [
    [ready, 200, "ready"],
    [{ ready: true, degraded: true, checks: { nats: "down" } }, 200, "degraded"],
    [{ ready: false, checks: { postgres: "down" } }, 503, "not_ready"],
    [{ ready: false, degraded: true, checks: {} }, 503, "not_ready"],
  ];
  for (const [readiness, code, status] of cases) {
    const { url } = await management(t, { readiness: () => Promise.resolve(readiness) });
    t.same(await json(`${url}/readyz`), [code, { status, checks: readiness.checks }], status);
  }
});

void t.test("a readiness check that fails means not ready", async (t) => {
  const { url } = await management(t, { readiness: () => Promise.reject(new Error("away")) });
  t.same(await json(`${url}/readyz`), [503, { status: "not_ready", checks: { readiness: "down" } }]);
});

void t.test("a readiness check that hangs means not ready, after two seconds", async (t) => {
  const { url } = await management(t, { readiness: () => new Promise(() => undefined) });
  const start = performance.now();
  t.equal((await get(`${url}/readyz`)).status, 503);
  t.ok(performance.now() - start < 5000);
});

void t.test("the check runs at most once a second", async (t) => {
  let checks = 0;
  const readiness = (): Promise<Readiness> => {
    checks += 1;
    return Promise.resolve(ready);
  };
  const { url } = await management(t, { readiness });
  await get(`${url}/readyz`);
  const start = performance.now();
  await Promise.all(Array.from({ length: 20 }, () => get(`${url}/readyz`)));
  if (performance.now() - start < 900) t.equal(checks, 1);
  while (checks === 1 && performance.now() - start < 5000) await get(`${url}/readyz`);
  t.equal(checks, 2);
});

void t.test("each change of the readiness is reported, once", async (t) => {
  const away: Readiness = { ready: false, checks: { postgres: "down" } };
  const states = [away, away, ready];
  const reported: Readiness[] = [];
  const readiness = (): Promise<Readiness> => Promise.resolve(states.shift() ?? ready);
  const { url } = await management(t, { readiness, onReadiness: (state) => reported.push(state) });
  while (reported.length < 2) await get(`${url}/readyz`);
  t.same(states, []);
  t.same(reported, [away, ready]);
});

void t.test("what is missing in the first seconds is reported only if it stays missing", async (t) => {
  const away: Readiness = { ready: true, degraded: true, checks: { nats: "down" } };
  const connected = createReadinessCheck(() => Promise.resolve(states.shift() ?? ready), report, 60_000);
  const states = [away];
  const reported: Readiness[] = [];
  function report(state: Readiness): void {
    reported.push(state);
  }
  t.same(await connected(), away, "the state is reported at once");
  t.same(reported, []);
  while ((await connected()).degraded === true) await pause(50);
  t.same(reported, [ready]);
  const staying = createReadinessCheck(() => Promise.resolve(away), report, 100);
  await staying();
  while (reported.length < 2) {
    await pause(50);
    await staying();
  }
  t.same(reported, [ready, away]);
});

void t.test("while draining it is not ready and lives", async (t) => {
  const { url, setDraining } = await management(t);
  t.equal((await get(`${url}/readyz`)).status, 200);
  setDraining();
  t.same(await json(`${url}/readyz`), [503, { status: "draining", checks: {} }]);
  t.equal((await get(`${url}/livez`)).status, 200);
});

void t.test("the version is that of the release, or the given one", async (t) => {
  t.same(await json(`${(await management(t)).url}/version`), [200, { version, node_version: process.version }]);
  t.match((await get(`${(await management(t, { version: "9.9.9" })).url}/version`)).text, "9.9.9");
});

void t.test("metrics come as plain text, or as OpenMetrics on request", async (t) => {
  const { url } = await management(t);
  const plain = await get(`${url}/metrics`);
  t.equal(plain.type, "text/plain; version=0.0.4; charset=utf-8");
  t.match(plain.text, /^coffer_build_info\{service="vaults"/m);
  const prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
  const open = await get(`${url}/metrics`, { accept: prometheus });
  t.equal(open.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  t.ok(open.text.endsWith("# EOF\n"));
});

void t.test("the Accept header is read with its weights", (t) => {
  t.ok(acceptsOpenMetrics("application/openmetrics-text"));
  t.ok(acceptsOpenMetrics("text/plain;q=0.5, Application/OpenMetrics-Text; Version=1.0.0"));
  t.notOk(acceptsOpenMetrics("application/openmetrics-text;q=0.4,text/plain;q=0.5"));
  t.notOk(acceptsOpenMetrics("application/openmetrics-text;q=0"));
  t.notOk(acceptsOpenMetrics("application/openmetrics-text;q=x"));
  t.notOk(acceptsOpenMetrics("*/*"));
  t.notOk(acceptsOpenMetrics(""));
  t.notOk(acceptsOpenMetrics(undefined));
  t.end();
});

void t.test("other paths are 404, other methods 405, HEAD has no body, a query changes nothing", async (t) => {
  const { url } = await management(t);
  for (const path of ["/", "/livez/", "/toString", "/__proto__"]) t.equal((await get(url + path)).status, 404, path);
  t.equal((await fetch(`${url}/livez`, { method: "POST" })).status, 405);
  const head = await fetch(`${url}/livez`, { method: "HEAD" });
  t.equal(head.status, 200);
  t.equal(await head.text(), "");
  t.equal((await get(`${url}/livez?verbose`)).status, 200);
  t.equal((await get(`${url}/livez`)).headers.get("cache-control"), "no-store");
});

void t.test("closing does not wait for idle connections, and may be done twice", async (t) => {
  const { url, close } = await management(t);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const ended = new Promise((resolve) => socket.once("close", resolve));
  await close();
  await ended;
  await t.rejects(get(`${url}/livez`));
});

void t.test("a taken port is an error of the start", async (t) => {
  const { url } = await management(t);
  await t.rejects(management(t, { port: Number(new URL(url).port) }), { code: "EADDRINUSE" });
});

void t.test("services with registries of their own cannot share a management port", async (t) => {
  const [vaults, sync] = [createTelemetry({ service: "vaults" }), createTelemetry({ service: "sync" })];
  await t.rejects(management(t, { telemetry: [vaults, sync] }), TypeError);
  const shared = createTelemetry({ service: "sync", registry: vaults.metrics.registry });
  const { url } = await management(t, { telemetry: [vaults, shared] });
  t.match((await get(`${url}/metrics`)).text, /coffer_build_info\{service="sync"/);
});
