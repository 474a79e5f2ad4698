import t from "tap";
import { version } from "@coffer/sdk/version";
import { asCoffer, doctor, startStranger } from "./doctor.ts";

const home = t.testdir({});
const whole = { status: "ready", checks: { postgres: "ok", nats: "ok", redis: "ok" } };

interface Says {
  ready?: object;
  version?: string;
  metrics?: string;
}

async function found(t: Parameters<typeof startStranger>[0], says: Says) {
  const service = await startStranger(t, asCoffer());
  const management = await startStranger(t, ({ url }) => {
    if (url === "/readyz") return [200, says.ready ?? whole];
    if (url === "/version") return [200, { version: says.version ?? version }];
    return url === "/metrics" ? [200, says.metrics ?? ""] : undefined;
  });
  return doctor(home, ["--url", service, "--management", management]);
}

await t.test("stores and schema are as the service says, and its version is compared", async (t) => {
  const { of, code } = await found(t, {});
  t.equal(code, 0);
  t.match(of("stores"), [{ status: "ok", message: "postgres, nats, redis" }]);
  t.match(of("schema"), [{ status: "ok" }]);
  t.match(of("version"), [{ status: "ok" }]);
  t.match((await found(t, { version: "9.0.0" })).of("version"), [{ status: "warn", message: /9\.0\.0/ }]);
});

await t.test("without NATS or Redis it is worth a look, without Postgres or its schema a problem", async (t) => {
  for (const [checks, check, status, advice, exit] of [
    [{ nats: "down" }, "stores", "warn", /NATS is back/, 0],
    [{ "auth-sm.redis": "down" }, "stores", "warn", /Redis/, 0],
    [{ "auth-sm.postgres": "down" }, "stores", "problem", /nothing works/, 1],
    [{ "sync.process": "down" }, "stores", "problem", /not running/, 1],
    [{ "vaults.postgres": "disk full" }, "stores", "problem", /free space on the disk/, 1],
    [{ postgres: "not migrated" }, "schema", "problem", /run the migrations/, 1],
  ] as const) {
    const { of, code } = await found(t, { ready: { status: "not_ready", checks } });
    t.match(of(check), [{ status, advice }], JSON.stringify(checks));
    t.equal(code, exit);
    t.not(of("schema")[0]?.status, "ok");
  }
  const draining = await found(t, { ready: { status: "draining", checks: {} } });
  t.match(draining.of("ready"), [{ status: "problem", message: /shutting down/ }]);
});

await t.test("an old outbox, parked messages, a limiter without Redis and lost log lines are reported", async (t) => {
  const age = (seconds: number): string => `coffer_outbox_oldest_age_seconds{service="auth-sm"} ${seconds}\n`;
  for (const [seconds, status] of [
    [30, "ok"],
    [31, "warn"],
    [300, "warn"],
    [301, "problem"],
  ] as const)
    t.match((await found(t, { metrics: age(1) + age(seconds) })).of("outbox"), [{ status }], `${seconds} s`);
  t.match((await found(t, { metrics: 'coffer_outbox_parked{service="a"} 2\n' })).of("outbox"), [{ status: "problem" }]);
  t.match((await found(t, { metrics: "coffer_ratelimit_degraded 1\n" })).of("limits"), [{}, { status: "warn" }]);
  t.match((await found(t, { metrics: 'coffer_log_lines_lost_total{service="a"} 7\n' })).of("log"), [
    { status: "warn", message: /7 log lines/ },
  ]);
  const none = await found(t, { metrics: "coffer_outbox_parked_longest 3\ncoffer_ratelimit_degraded 0\n" });
  t.same([none.of("outbox"), none.of("log")], [[], []]);
});

await t.test("a management address where nothing, or something else, is", async (t) => {
  const service = await startStranger(t, asCoffer());
  for (const [management, message] of [
    ["http://127.0.0.1:9", /cannot be reached/],
    [service, /no management address/],
  ] as const) {
    const { of, code } = await doctor(home, ["--url", service, "--management", management]);
    t.match(of("management"), [{ status: "problem", message }]);
    t.equal(code, 1);
  }
});
