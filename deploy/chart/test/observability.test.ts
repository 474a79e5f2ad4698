import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import t from "tap";
import { locateTool } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { stringify } from "yaml";
import { type Rule, ruleGroups, runbookPage } from "../src/observability/alerts.ts";
import { dashboardJson, dashboards } from "../src/observability/dashboards.ts";
import { chart, checkout } from "../src/paths.ts";

// Prometheus's own engine (promtool) evaluates the alerts on series that should wake a person, and on others.

const promtool = await locateTool("promtool", { report: (line) => t.comment(line) });
const rulesFile = join(chart, "files/alerts.yaml");
const rules = ruleGroups().flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

function runPromtool(args: string[]): { status: number | null; output: string } {
  const [program = "", ...before] = promtool;
  const { status, stdout, stderr } = spawnSync(program, [...before, ...args], { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

await t.test("Prometheus accepts the rules", (t) => {
  const { status, output } = runPromtool(["check", "rules", rulesFile]);
  t.equal(status, 0, output);
  t.match(output, `${rules.length} rules found`);
  t.end();
});

/** A firing alert: series by minute in promtool's notation, and a time. */
interface Case {
  alert: string;
  firing: Record<string, string>;
  quiet: Record<string, string>;
  /** promtool's duration from the first sample. */
  at: string;
  /** Labels of the firing alert besides `severity`; by default `service: vaults`. */
  labels?: Record<string, string>;
}

const service = 'service="vaults"';
const status = (code: number) =>
  `http_server_request_duration_seconds_count{${service},http_request_method="GET",http_response_status_code="${code}"}`;
const fast = `http_server_request_duration_seconds_bucket{${service},http_request_method="GET",http_response_status_code="200",le="0.25"}`;
const pushes = `coffer_sync_push_latency_seconds_count{service="sync"}`;
const pushed = (bound: string) => `coffer_sync_push_latency_seconds_bucket{service="sync",le="${bound}"}`;
const deliveries = (outcome: string) =>
  `coffer_siem_deliveries_total{service="siem-forwarder",format="hec",outcome="${outcome}"}`;
const forwarder = 'service="siem-forwarder"';
const partitionsEnd = `coffer_audit_partitions_end_timestamp_seconds{${forwarder}}`;
const drilledBackup = `coffer_restore_drill_backup_timestamp_seconds{${forwarder}}`;
const sync = { service: "sync" };
const hec = { service: "siem-forwarder", format: "hec" };
const billing = (outcome: string) =>
  `coffer_billing_events_total{service="billing-webhook",type="unknown",outcome="${outcome}"}`;

/** An error rate that spends the budget faster than the window allows, and one that does not. */
function burns(window: string, at: string, [many, few]: readonly [number, number]): Case[] {
  const labels = (name: string) => ({ service: name, window });
  return [
    {
      alert: "CofferAvailabilityBurn",
      firing: { [status(200)]: "0+1000x1100", [status(503)]: `0+${many}x1100` },
      quiet: { [status(200)]: "0+1000x1100", [status(503)]: `0+${few}x1100` },
      at,
      labels: labels("vaults"),
    },
    {
      alert: "CofferLatencyBurn",
      firing: { [status(200)]: "0+1000x1100", [fast]: `0+${1000 - 10 * many}x1100` },
      quiet: { [status(200)]: "0+1000x1100", [fast]: `0+${1000 - 10 * few}x1100` },
      at,
      labels: labels("vaults"),
    },
    {
      alert: "CofferPushFreshnessBurn",
      firing: { [pushes]: "0+1000x1100", [pushed("1")]: `0+${1000 - 10 * many}x1100` },
      quiet: { [pushes]: "0+1000x1100", [pushed("1.0")]: `0+${1000 - 10 * few}x1100` },
      at,
      labels: labels("sync"),
    },
  ];
}

const gauge = (
  alert: string,
  series: string,
  wrong: string,
  fine: string,
  at = "30m",
  labels?: Case["labels"],
): Case => ({
  alert,
  firing: { [series]: wrong },
  quiet: { [series]: fine },
  at,
  ...(labels === undefined ? {} : { labels }),
});

const refusals = `coffer_auth_failures_total{${service},reason="x"}`;
const backlog = 'coffer_siem_backlog{service="siem-forwarder",format="hec"}';
const connections = (pod: string): string => `coffer_sync_connections{service="sync",instance="${pod}"}`;

const cases: Case[] = [
  ...burns("1h", "70m", [16, 13]),
  ...burns("6h", "370m", [8, 5]),
  ...burns("1d", "1450m", [4, 2]),
  ...burns("3d", "4330m", [2, 0.5]),
  {
    alert: "CofferServiceGone",
    firing: { [`coffer_build_info{${service},version="1"}`]: "1x10 stale" },
    quiet: { [`coffer_build_info{${service},version="1"}`]: "1x40" },
    at: "30m",
  },
  {
    alert: "CofferServiceGone",
    // Gone for five hours, and for longer than a day.
    firing: { [`coffer_build_info{${service},version="1"}`]: "1x1800 stale" },
    quiet: { [`coffer_build_info{${service},version="1"}`]: "1x60 stale" },
    at: "2100m",
  },
  gauge("CofferOutboxStuck", `coffer_outbox_oldest_age_seconds{${service}}`, "0+60x40", "10x40"),
  gauge("CofferOutboxParked", `coffer_outbox_parked{${service}}`, "1x40", "0x40"),
  {
    alert: "CofferSyncPushSlow",
    firing: { [pushed("5")]: "0+10x40", [pushed("10")]: "0+1000x40", [pushed("+Inf")]: "0+1000x40" },
    quiet: { [pushed("0.5")]: "0+1000x40", [pushed("5")]: "0+1000x40", [pushed("+Inf")]: "0+1000x40" },
    at: "30m",
    labels: sync,
  },
  gauge(
    "CofferSyncConnectionsLost",
    'coffer_sync_connections{service="sync"}',
    "100x60 10x30",
    "100x60 60x30",
    "70m",
    sync,
  ),
  {
    alert: "CofferSyncConnectionsLost",
    firing: { [connections("a")]: "100x60 stale", [connections("b")]: "_x60 10x30" },
    // Three rollouts in an hour.
    quiet: {
      [connections("a")]: "100x20 stale",
      [connections("b")]: "_x20 100x20 stale",
      [connections("c")]: "_x40 100x20 stale",
      [connections("d")]: "_x60 90x30",
    },
    at: "75m",
    labels: sync,
  },
  gauge("CofferSyncMomentHeld", `coffer_sync_tick_age_seconds{${service}}`, "0+60x40", "5x40"),
  gauge("CofferLimiterDegraded", `coffer_ratelimit_degraded{${service}}`, "1x40", "0x40"),
  gauge("CofferBusDisconnected", `coffer_bus_connected{${service}}`, "0x40", "1x40"),
  gauge("CofferBusRefused", `coffer_bus_refused_subscriptions{${service}}`, "1x40", "0x40"),
  gauge("CofferBusRefused", `coffer_bus_refusals_total{${service},operation="publish"}`, "0+1x40", "7x40"),
  // Two reloads within three minutes, the last one three minutes ago.
  gauge(
    "CofferBusRefused",
    `coffer_bus_refusals_total{${service},operation="reply"}`,
    "0+1x40",
    "0x20 4x2 9x20",
    "27m",
  ),
  gauge(
    "CofferDatabasePoolSaturated",
    `coffer_db_pool_waiting{${service},pool="prepared"}`,
    "3x40",
    "0 9 0 9 0 9x2 0x40",
    "30m",
    {
      service: "vaults",
      pool: "prepared",
    },
  ),
  gauge("CofferEventLoopLag", `nodejs_eventloop_lag_p99_seconds{${service}}`, "0.5x40", "0.1x40"),
  gauge("CofferAuthFailures", refusals, "0+1x1440 1440+600x60", "0+600x1500", "1490m"),
  // The first refusals of a process begin its series.
  gauge("CofferAuthFailures", refusals, "_x30 600+600x40", "_x30 6+6x40", "43m"),
  gauge(
    "CofferSiemBacklog",
    'coffer_siem_backlog{service="siem-forwarder",format="hec"}',
    "20000x40",
    "9000x40",
    "30m",
    hec,
  ),
  {
    alert: "CofferSiemDeliveryFailing",
    firing: { [deliveries("failed")]: "0+1x120", [deliveries("delivered")]: "5x120", [backlog]: "9x120" },
    quiet: { [deliveries("failed")]: "0+1x120", [deliveries("delivered")]: "0+5x120", [backlog]: "9x120" },
    at: "100m",
    labels: hec,
  },
  {
    alert: "CofferSiemDeliveryFailing",
    // The last retry failed 65 minutes ago, the next one is due; and the same after a delivery of
    // all that waited.
    firing: { [deliveries("failed")]: "0x10 7x100", [deliveries("delivered")]: "5x110", [backlog]: "9x110" },
    quiet: { [deliveries("failed")]: "0x10 7x100", [deliveries("delivered")]: "5x20 14x90", [backlog]: "9x20 0x90" },
    at: "75m",
    labels: hec,
  },
  gauge("CofferBillingSignatures", billing("bad_signature"), "0+1x60", "0 1x60", "30m", { service: "billing-webhook" }),
  // The attempts of Stripe for one event, over some hours.
  gauge("CofferBillingSignatures", billing("bad_signature"), "0 1x4 2x60 3x100 4x100", "0 1x100 2x200", "250m", {
    service: "billing-webhook",
  }),
  gauge("CofferBillingUnknownPrice", billing("unknown_price"), "0 0 1x60", "1x60", "30m", {
    service: "billing-webhook",
  }),
  // An event in the evening is still seen in the morning. A restart is no event.
  gauge("CofferBillingUnknownPrice", billing("unknown_price"), "0x10 1x1000", "5x500 0x600", "1000m", {
    service: "billing-webhook",
  }),
  gauge("CofferDatabaseNotWritable", `coffer_db_writable{${service}}`, "0x40", "1x40"),
  gauge("CofferMembershipsDisbelieved", `coffer_memberships_disbelieved{${service}}`, "1x40", "0x40"),
  gauge("CofferLogLinesLost", `coffer_log_lines_lost_total{${service}}`, "0+1x40", "7x40"),
  gauge(
    "CofferMigrationFailed",
    'kube_job_failed{namespace="coffer",job_name="coffer-migrate-vaults",condition="true"}',
    "1x40",
    "0x40",
    "30m",
    {
      namespace: "coffer",
      job_name: "coffer-migrate-vaults",
    },
  ),
  gauge(
    "CofferBackupFailed",
    'kube_job_failed{namespace="coffer",job_name="coffer-restore-drill-29384567",condition="true"}',
    "1x40",
    "0x40",
    "30m",
    { namespace: "coffer", job_name: "coffer-restore-drill-29384567" },
  ),
  gauge("CofferRestoreDrillFailed", `coffer_restore_drill_failed{${forwarder}}`, "1x40", "0x40", "30m", {
    service: "siem-forwarder",
  }),
  {
    alert: "CofferRestoreDrillMissed",
    firing: { [drilledBackup]: "60x13100" },
    // One that never ran is not expected; the other is of a later moment.
    quiet: { [drilledBackup]: "0x13100", [drilledBackup.replace("siem", "other")]: "60x10 600000x13090" },
    at: "12970m",
    labels: { service: "siem-forwarder" },
  },
  // Two weeks ahead; a service that has not asked Postgres yet, and one with two months ahead.
  gauge("CofferAuditPartitionsMissing", partitionsEnd, "1209600x40", "0x20 5184000x20", "30m", {
    service: "siem-forwarder",
  }),
];

/** The rule of an alert and its recorded rules, without texts, which are checked below. */
function rulesFor(alert: string, window: string | undefined): Omit<Rule, "annotations">[] {
  const one = alerts.find((rule) => rule.alert === alert && rule.labels?.["window"] === window);
  const recorded = rules.filter(({ record }) => record !== undefined && one?.expr.split(" ").includes(record));
  return [...recorded, ...(one === undefined ? [] : [one])].map(({ annotations: _, ...rule }) => rule);
}

await t.test("each alert fires when it should, and not otherwise", (t) => {
  t.same([...new Set(cases.map(({ alert }) => alert))].sort(), [...new Set(alerts.map(({ alert }) => alert))].sort());
  const directory = testDirectory(t);
  const file = join(directory, "tests.yaml");
  const tests = cases.flatMap(({ alert, firing, quiet, at, labels = { service: "vaults" } }) => {
    const found = alerts.find((one) => one.alert === alert && one.labels?.["window"] === labels["window"]);
    const expected = { exp_labels: { ...labels, ...found?.labels } };
    const { window } = labels as { window?: string };
    const evaluation = (name: string, series: Record<string, string>, exp_alerts: object[]) => ({
      name: `${alert} ${window ?? ""} ${name}`,
      alert,
      window,
      interval: window === "1d" || window === "3d" ? "5m" : "1m",
      input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
      alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts }],
    });
    return [evaluation("firing", firing, [expected]), evaluation("quiet", quiet, [])];
  });
  for (const { name, alert, window, ...one } of tests) {
    writeFileSync(
      join(directory, "rules.yaml"),
      stringify({ groups: [{ name: "one", rules: rulesFor(alert, window) }] }),
    );
    const steps = { evaluation_interval: one.interval, rule_files: ["rules.yaml"] };
    writeFileSync(file, stringify({ ...steps, tests: [one] }));
    const { status: code, output } = runPromtool(["test", "rules", file]);
    t.equal(code, 0, `${name}: ${output}`);
  }
  t.end();
});

await t.test("each alert has a severity, a sentence and a runbook", (t) => {
  const headings = new Set(
    [...readFileSync(resolve(checkout, runbookPage), "utf8").matchAll(/^## (\w+)$/gm)].map(([, name]) => name),
  );
  for (const { alert = "", labels, annotations } of alerts) {
    t.match(labels?.["severity"], /^(page|ticket)$/, alert);
    t.match(annotations?.["summary"], /^.{20,200}\.$/, alert);
    t.equal(annotations?.["runbook_url"], `${runbookPage}#${alert.toLowerCase()}`);
    t.ok(headings.delete(alert) || alerts.filter((one) => one.alert === alert).length > 1, `a runbook of ${alert}`);
  }
  t.same([...headings], [], "no runbook without an alert");
  t.end();
});

/** Our and Node's metrics in a PromQL expression. */
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:coffer|http_server|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );

await t.test("every metric that a rule or panel names exists in the code", (t) => {
  const sources = sourcesOfServices();
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ queries }) => Object.values(queries))),
  ];
  const names = new Set(expressions.flatMap(metricsIn));
  t.ok(names.size > 20);
  for (const name of names) t.ok(sources.includes(`"${name}"`), name);
  t.end();
});

await t.test("the runbook of CofferAuthFailures explains each reason that the code counts", (t) => {
  const sources = sourcesOfServices();
  const rejections = /export type RejectionReason =([^;]+);/.exec(sources)?.[1] ?? "";
  const reasons = [
    ...[...sources.matchAll(/authFailures\.inc\(\{ reason: "(\w+)"/g)].map(([, reason = ""]) => reason),
    ...[...rejections.matchAll(/"(\w+)"/g)].map(([, reason = ""]) => reason),
  ];
  t.ok(reasons.includes("unknown_login") && reasons.includes("expired"));
  const page = readFileSync(resolve(checkout, runbookPage), "utf8");
  const [, section = ""] = page.split("## CofferAuthFailures\n");
  const explained = [...(section.split("\n## ")[0] ?? "").matchAll(/`(\w+)(…?)`/g)];
  for (const reason of new Set(reasons))
    t.ok(
      explained.some(([, name = "", more]) => (more === "" ? reason === name : reason.startsWith(name))),
      reason,
    );
  t.end();
});

/** The code of all packages and services, as one text. */
function sourcesOfServices(): string {
  return ["packages", "services"]
    .flatMap((place) => readdirSync(resolve(checkout, place)).map((name) => resolve(checkout, place, name, "src")))
    .flatMap((folder) => sourcesBelow(folder))
    .join("\n");
}

function sourcesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

await t.test("each query of a panel is valid for Prometheus", (t) => {
  const directory = testDirectory(t);
  const file = join(directory, "panels.yaml");
  const panelRules = dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) =>
      Object.values(queries).map((expr, index) => ({
        record: `coffer:panel:${index}`,
        expr: expr.replaceAll("$__rate_interval", "5m"),
        labels: { n: String(Math.random()) },
      })),
    ),
  );
  writeFileSync(file, stringify({ groups: [{ name: "panels", rules: panelRules }] }));
  const { status: code, output } = runPromtool(["check", "rules", "--lint=none", file]);
  t.equal(code, 0, output);
  for (const one of dashboards) {
    const { uid, panels } = dashboardJson(one) as { uid: string; panels: { gridPos: { x: number; y: number } }[] };
    t.equal(uid, `coffer-${one.id}`);
    t.equal(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size, panels.length, "no panel over another");
  }
  t.end();
});
