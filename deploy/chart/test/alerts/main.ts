import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import { type RuleGroup } from "../../src/observability/alerts.ts";
import { chart } from "../../src/paths.ts";
import { type Disturbance, disturbances } from "./disturbances.ts";
import { type ActiveAlert, type Prometheus, startPrometheus } from "./prometheus.ts";
import { shortenRules } from "./shorten.ts";
import { type Stage, startStage } from "./stage.ts";

const usage = `npm run alerts -- [--only TEXT] [--factor N] [--list]

Makes each alert of the chart happen. It starts Coffer with stores of its own, and a Prometheus that scrapes it with the
chart's rules. It causes one fault after the other, waits until its alert fires, ends the fault, and waits until the alert
has ended. The alerts about Kubernetes Jobs are left out.

  --only    only alerts whose name contains this
  --factor  how much faster than the chart's rules the windows and waits are (30)
  --list    prints the faults
`;

const withoutFault = /^Coffer(MigrationFailed|BackupFailed)$/;
const patienceSeconds = 180;

function matches(alert: ActiveAlert, { alert: name, labels = {} }: Disturbance): boolean {
  return alert.name === name && Object.entries(labels).every(([key, value]) => alert.labels[key] === value);
}

/** Waits until the alert of a fault has a state, or none; returns the seconds, null in vain. */
async function waitFor(
  prometheus: Prometheus,
  disturbance: Disturbance,
  states: readonly (ActiveAlert["state"] | "none")[],
): Promise<{ seconds: number; alert: ActiveAlert | undefined } | null> {
  const began = performance.now();
  for (;;) {
    const found = (await prometheus.active()).filter((alert) => matches(alert, disturbance));
    const state = found.some(({ state: each }) => each === "firing") ? "firing" : (found[0]?.state ?? "none");
    const seconds = (performance.now() - began) / 1_000;
    if (states.includes(state)) return { seconds, alert: found[0] };
    if (seconds > patienceSeconds) return null;
    await pause(250);
  }
}

/** Plays one fault; returns what is wrong, or null. */
async function play(disturbance: Disturbance, stage: Stage, prometheus: Prometheus): Promise<string | null> {
  const say = (text: string): void => void process.stdout.write(`  ${text}\n`);
  process.stdout.write(`${disturbance.alert}: ${disturbance.what}\n`);
  if ((await waitFor(prometheus, disturbance, ["none"])) === null) return "fires before the fault";
  const mend = await disturbance.begin(stage, prometheus);
  try {
    const pending = await waitFor(prometheus, disturbance, ["pending", "firing"]);
    if (pending === null) return "is not pending";
    const firing = await waitFor(prometheus, disturbance, ["firing"]);
    if (firing === null) return "does not fire";
    say(
      `pending after ${pending.seconds.toFixed(1)} s, firing ${firing.seconds.toFixed(1)} s later: ${firing.alert?.summary ?? ""}`,
    );
    const others = (await prometheus.active()).filter((each) => each.state === "firing" && !matches(each, disturbance));
    const names = others.map(({ name, labels }) => `${name}{${labels["service"] ?? ""}${labels["window"] ?? ""}}`);
    if (names.length > 0) say(`with it: ${[...new Set(names)].join(" ")}`);
  } finally {
    await mend();
  }
  if (disturbance.lasts === true) return null;
  const ended = await waitFor(prometheus, disturbance, ["none"]);
  if (ended === null) return "does not end";
  say(`ended ${ended.seconds.toFixed(1)} s after the mend`);
  return null;
}

async function main(): Promise<number> {
  const options = {
    only: { type: "string", default: "" },
    factor: { type: "string", default: "30" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  const { only, factor, list, help } = parseArgs({ options }).values;
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const rules = readFileSync(join(chart, "files/alerts.yaml"), "utf8");
  const { groups } = parse(rules) as { groups: RuleGroup[] }; // the chart's own file
  const names = new Set(groups.flatMap((group) => group.rules.flatMap(({ alert }) => alert ?? [])));
  const missing = [...names].filter(
    (name) => !withoutFault.test(name) && !disturbances.some(({ alert }) => alert === name),
  );
  if (missing.length > 0) throw new Error(`no fault causes ${missing.join(", ")}`);
  const chosen = disturbances.filter(({ alert }) => alert.includes(only));
  if (list) {
    for (const { alert, what } of chosen) process.stdout.write(`${alert}: ${what}\n`);
    return 0;
  }
  const report = (line: string): void => void process.stderr.write(`alerts: ${line}\n`);
  const endings: (() => unknown)[] = [];
  const scope = { teardown: (work: () => unknown) => endings.push(work) };
  try {
    const prometheus = await startPrometheus(scope, shortenRules(rules, Number(factor)), report);
    const stage = await startStage(scope, (addresses) => prometheus.scrape(addresses), report);
    report(`Coffer at ${stage.url} in ${stage.directory}, Prometheus at ${prometheus.url}`);
    const failures: string[] = [];
    for (const disturbance of chosen) {
      const problem = await play(disturbance, stage, prometheus).catch((error: unknown) => String(error));
      if (problem === null) continue;
      failures.push(disturbance.alert);
      process.stdout.write(`  NOT AS IT SHOULD BE: ${problem}\n`);
    }
    process.stdout.write(`${chosen.length - failures.length} as they should be, ${failures.length} not\n`);
    return failures.length === 0 ? 0 : 1;
  } finally {
    for (const ending of endings.reverse()) await ending();
  }
}

process.exitCode = await main();
