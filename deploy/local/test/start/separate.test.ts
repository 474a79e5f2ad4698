import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { serversIn } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { type SentSpan, startSpanReceiver } from "@coffer/testkit/traces";
import { connect } from "../../../../packages/tools/cases/src/connection.ts";
import { createPerson } from "../../../../packages/tools/cases/src/owner.ts";
import { openInstallation } from "../../src/data/installation.ts";
import { killGroup, living, npmStart, processesOf, until } from "../npm-start.ts";

const directory = testDirectory(t);

// Removed by a reset.
const old = openInstallation(directory);
mkdirSync(join(directory, "log"));
writeFileSync(join(directory, "log/old"), "");

const receiver = await startSpanReceiver(t);
const endpoint = join(t.testdir({ endpoint: receiver.url }), "endpoint");
const env = { COFFER_PROCESSES: "separate", COFFER_CONSOLE: "off", OTEL_EXPORTER_OTLP_ENDPOINT_FILE: endpoint };
const file = t;
let coffer = npmStart(file, { directory, args: ["--reset", "--yes"], env });
const state = await coffer.ready;

await t.test("a reset removes everything", async (t) => {
  t.notOk(existsSync(join(directory, "log/old")));
  t.not(openInstallation(directory).redis.owner, old.redis.owner);
  await until(() => coffer.stdout().includes("npx coffer register")); // the installation is new
});

await t.test("each service is a process of its own, with addresses of its own", (t) => {
  const services = Object.values(state.services);
  t.ok(services.length >= 2);
  const distinct = (values: unknown[]): number => new Set(values).size;
  t.equal(distinct([state.pid, ...services.map(({ pid }) => pid)]), services.length + 1);
  t.equal(distinct([state.url, ...services.map(({ url }) => url)]), services.length + 1);
  t.equal(distinct(services.map(({ management_url }) => management_url)), services.length);
  t.end();
});

await t.test(
  "without the console the address itself answers a browser with a page, and below /api there is none",
  async (t) => {
    const headers = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
    const page = await fetch(`${state.url}/`, { headers });
    t.match(page.headers.get("content-type"), /^text\/html/);
    t.match(await page.text(), `register --url ${state.url} `);
    const unknown = await fetch(`${state.url}/api/nothing`, { headers });
    t.equal(unknown.status, 404);
    t.match(await unknown.json(), { error: "not_found" });
  },
);

/** The rest of the limit of the source address that the service sees. */
async function remaining(url: string, forwarded: string): Promise<number> {
  const { headers } = await fetch(`${url}/api/sm/v1/secrets`, { headers: { "x-forwarded-for": forwarded } });
  return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
}

await t.test("a caller cannot choose a source address, neither here nor at a service", async (t) => {
  const first = await remaining(state.url, "1.2.3.4");
  t.equal(await remaining(state.url, "5.6.7.8"), first - 1);
  const direct = state.services["auth-sm"]?.url ?? "";
  t.equal(await remaining(direct, "9.9.9.9"), first - 2, "past the router it is the same address, of this machine");
});

await t.test("a service that dies is 503 for a moment and then answers again, under the same address", async (t) => {
  const before = state.services["auth-sm"]?.pid ?? 0;
  const seen: number[] = [];
  const hints = new Set<string | null>();
  process.kill(before, "SIGKILL");
  const began = performance.now();
  await until(async () => {
    const { status, headers } = await fetch(`${state.url}/api/sm/v1/secrets`);
    if (status === 503) hints.add(headers.get("retry-after"));
    seen.push(status);
    return seen.includes(503) && status === 401;
  });
  t.same([...hints], ["1"]);
  const after = coffer.state().services["auth-sm"];
  t.not(after?.pid, before);
  t.equal(new Set(seen).size, 2, "nothing but 503 and the ordinary answer");
  t.comment(`it answered again after ${Math.round(performance.now() - began)} ms`);
  t.equal((await fetch(`${state.url}/api/org/audit`)).status, 401, "the others answer as before");
  await until(async () => (await fetch(`${state.management_url}/readyz`)).status === 200);
});

await t.test("a request is one trace: its caller's, through the service, into the one that this asks", async (t) => {
  const owner = await createPerson(connect({ url: state.url, forwarded: false }), { organization: "Traced" });
  const [traceId, caller] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  const headers = { authorization: `Bearer ${await owner.accessToken()}`, traceparent: `00-${traceId}-${caller}-01` };
  t.equal((await fetch(`${state.url}/api/org/audit`, { headers })).status, 200);
  const named = (name: string): SentSpan | undefined =>
    receiver.spans().find((span) => span.traceId === traceId && span.name === name);
  const asked = "coffer.rpc.auth-sm.membership";
  await until(() => [named("GET /api/org/audit"), named(`reply ${asked}`)].every((span) => span !== undefined));
  t.match(named("GET /api/org/audit"), { parentSpanId: caller, resource: { "service.name": "siem-forwarder" } });
  t.equal(named(`request ${asked}`)?.parentSpanId, named("GET /api/org/audit")?.spanId);
  t.match(named(`reply ${asked}`), {
    parentSpanId: named(`request ${asked}`)?.spanId,
    resource: { "service.name": "auth-sm" },
  });
});

const linux = process.platform === "linux" ? false : "servers are tied to what started them on Linux only";
await t.test("a kill of the main process ends the rest, and the next start works", { skip: linux }, async (t) => {
  const parts = processesOf(coffer.state());
  killGroup(coffer.pid);
  await coffer.exited;
  await until(() => living(parts).length === 0);
  coffer = npmStart(file, { directory, env });
  const again = await coffer.ready;
  t.equal((await fetch(`${again.url}/api/sm/v1/secrets`)).status, 401);
});

await t.test("SIGTERM to npm ends everything with 0 and leaves nothing", async (t) => {
  const last = coffer.state();
  process.kill(coffer.pid, "SIGTERM");
  const began = performance.now();
  t.equal(await coffer.exited, 0, coffer.stderr());
  t.ok(performance.now() - began < 15_000);
  t.same(living([...processesOf(state), ...processesOf(last)]), []);
  t.same(serversIn(directory), []);
  t.same(readdirSync(join(directory, "run")), []);
});
