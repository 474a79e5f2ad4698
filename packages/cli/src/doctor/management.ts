import { version } from "@coffer/sdk/version";
import { type Finding, fine, problem, warning } from "./finding.ts";
import { greatest, sum } from "./metrics.ts";
import { type Answer, get, NoAnswer } from "./request.ts";

const lateSeconds = 30;
const veryLateSeconds = 300;

const storeAdvice: Record<string, string> = {
  postgres: "nothing works without it: look at Postgres, its address and its password",
  nats: "audit and events wait until NATS is back: look at it, its address and its credentials",
  redis: "each replica enforces the limits by itself meanwhile: look at Redis, its address and its password",
  readiness: "it did not answer in time, as when Postgres hangs: look at Postgres and at the log of the service",
  process: "the service is not running: look at its log",
};

/** States in which Postgres answers reads. */
const notWritable = new Set(["disk full", "read only", "input/output error"]);
const notWritableAdvice =
  "free space on the disk of Postgres or enlarge it; read only: the address leads to a standby. No restart is needed";

/** Checks the management ports: the first one completely, the others only for their metrics. */
export async function checkManagement(urls: readonly string[]): Promise<Finding[]> {
  const [first = "", ...others] = urls;
  let readiness: Answer;
  try {
    readiness = await get(`${first}/readyz`);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const advice = "it listens on the server's machine alone; npm start writes its address to run/coffer.json";
    return [problem("management", `${first} cannot be reached: ${error.message}`, advice)];
  }
  const states = statesIn(readiness);
  if (states === undefined)
    return [problem("management", `${first} is no management address of Coffer`, "see COFFER_MANAGEMENT_PORT")];
  const served = await get(`${first}/version`).then(serverVersion, () => undefined);
  const metrics = await Promise.all(
    [first, ...others].map((url) =>
      get(`${url}/metrics`).then(
        ({ text }) => text,
        () => "",
      ),
    ),
  );
  return [...versionOf(served), ...stores(states), ...metricsOf(metrics.join("\n"))];
}

function statesIn({ json }: Answer): { status: string; checks: Record<string, string> } | undefined {
  if (typeof json !== "object" || json === null || !("status" in json) || !("checks" in json)) return undefined;
  return json as { status: string; checks: Record<string, string> }; // the shape of every management port
}

function stores({ status, checks }: { status: string; checks: Record<string, string> }): Finding[] {
  if (status === "draining") return [problem("ready", "it is shutting down", "wait for its successor, or start it")];
  const names = Object.keys(checks).filter((name) => checks[name] === "ok");
  const bad = Object.entries(checks).filter(([, state]) => state !== "ok");
  const findings = bad.map(([name, state]) => store(name, state));
  if (names.length > 0) findings.unshift(fine("stores", names.join(", ")));
  const schemas = Object.keys(checks).filter((name) => /(^|\.)postgres$/.test(name));
  if (schemas.length > 0 && schemas.every((name) => checks[name] === "ok"))
    findings.push(fine("schema", "every migration that the services know is applied"));
  return findings;
}

function store(name: string, state: string): Finding {
  if (state === "not migrated")
    return problem(
      "schema",
      `${name}: migrations are missing`,
      "run the migrations of this version (npm start does; in a cluster it is the migration Job)",
    );
  if (notWritable.has(state))
    return problem("stores", `${name}: ${state}: only what writes nothing works`, notWritableAdvice);
  const kind = /[a-z]+$/.exec(name)?.[0] ?? "";
  const advice = storeAdvice[kind] ?? "look at the log of the service";
  const degraded = kind === "nats" || kind === "redis";
  return (degraded ? warning : problem)("stores", `${name} is ${state}`, advice);
}

function serverVersion({ json }: Answer): string | undefined {
  const found = typeof json === "object" && json !== null && "version" in json ? json.version : undefined;
  return typeof found === "string" ? found : undefined;
}

function versionOf(served: string | undefined): Finding[] {
  if (served === undefined) return [];
  if (served === version) return [fine("version", `server ${served}, as this command`)];
  return [
    warning(
      "version",
      `server ${served}, this command ${version}`,
      "the older one works, but install the same version",
    ),
  ];
}

function metricsOf(text: string): Finding[] {
  const findings: Finding[] = [];
  const age = greatest(text, "coffer_outbox_oldest_age_seconds");
  if (age !== undefined) findings.push(outbox(Math.round(age)));
  const parked = sum(text, "coffer_outbox_parked");
  if (parked > 0)
    findings.push(
      problem("outbox", `${parked} messages are refused again and again`, "look for `parked` in the services' logs"),
    );
  if (sum(text, "coffer_ratelimit_degraded") > 0)
    findings.push(
      warning(
        "limits",
        "the limiter works without Redis",
        "several replicas may together let more through: look at Redis",
      ),
    );
  const lost = sum(text, "coffer_log_lines_lost_total");
  if (lost > 0) findings.push(warning("log", `${lost} log lines were lost`, "the disk of the log was, or is, full"));
  return findings;
}

function outbox(seconds: number): Finding {
  const said = `the oldest undelivered message is ${seconds} s old`;
  if (seconds <= lateSeconds) return fine("outbox", said);
  const advice = "audit records and events wait: look at NATS, and at siem-forwarder, which takes them";
  return (seconds <= veryLateSeconds ? warning : problem)("outbox", said, advice);
}
