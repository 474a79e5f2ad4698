import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t from "tap";
import { serversIn, serverUser } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import { startSpanReceiver } from "@coffer/testkit/traces";
import { othersIn } from "../../src/data/data-directory.ts";
import { firstMinute } from "../../src/first-minute.ts";
import type { RunState } from "../../src/run-file.ts";
import { killGroup, living, npmStart, processesOf, until } from "../npm-start.ts";
import { privilegesOf, unprivileged } from "../privileges.ts";

const directory = testDirectory(t);
const temporary = testDirectory(t);
const receiver = await startSpanReceiver(t);
const endpoint = join(t.testdir({ endpoint: receiver.url }), "endpoint");
const env = { TMPDIR: temporary, OTEL_EXPORTER_OTLP_ENDPOINT_FILE: endpoint };

async function query(state: RunState, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: state.stores.postgres });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

// The disk is full for the log of one service, from the first line on.
const linux = process.platform === "linux";
if (linux) {
  mkdirSync(join(directory, "log"));
  symlinkSync("/dev/full", join(directory, "log/siem-forwarder.log"));
}

// Started parts belong to the whole file.
const file = t;
let first = npmStart(file, { directory, env });

await t.test("a new installation says one line when everything answers, and then the first minute", async (t) => {
  const state = await first.ready;
  const said = [`coffer ready at ${state.url}`, `export COFFER_DATA_DIR='${directory}'`, ...firstMinute, ""];
  await until(() => first.stdout().split("\n").length >= said.length);
  t.same(first.stdout().split("\n"), said);
  // It came before, but by another pipe.
  await until(() => first.stderr().includes("starting auth-sm"));
  t.match(first.stderr(), new RegExp(`data in ${directory}`), "and where the data is");
});

await t.test("its spans go to where the file says", async () => {
  await fetch(`${first.state().url}/api/sm/v1/secrets`);
  await until(() => receiver.received.some(({ body }) => body.includes("/api/sm/v1/secrets")));
});

await t.test("coffer.json names what runs, for its owner alone", async (t) => {
  const state = first.state();
  t.match(state, {
    url: /^http:\/\/127\.0\.0\.1:\d+$/,
    management_url: /^http:\/\/127\.0\.0\.1:\d+$/,
    services: { "auth-sm": { pid: state.pid, url: state.url, management_url: state.management_url } },
    stores: { postgres: /^postgres:\/\//, nats: /^nats:\/\//, redis: /^redis:\/\// },
  });
  t.same(living(processesOf(state)), processesOf(state));
  t.equal(statSync(join(directory, "run/coffer.json")).mode & 0o777, 0o600);
  t.equal(statSync(join(directory, "installation.json")).mode & 0o777, 0o600);
  t.same(othersIn(directory), [], "a reset knows everything that is here");
  for (const path of ["/livez", "/readyz", "/metrics", "/version"]) {
    t.equal(await statusOf(`${state.management_url}${path}`), 200, path);
  }
});

const asRoot = linux && process.getuid?.() === 0;
await t.test("the stores that root starts run as a user that may do nothing else", { skip: !asRoot }, (t) => {
  const user = serverUser() ?? { uid: 0, gid: 0 };
  const pids = Object.entries(first.state().store_pids);
  t.equal(pids.length, 3);
  for (const [name, pid] of pids) t.match(privilegesOf(pid), unprivileged(user), name);
  t.end();
});

await t.test("each path is answered by its service, other paths with 404", async (t) => {
  const { url } = first.state();
  t.equal(await statusOf(`${url}/api/sm/v1/secrets`), 401);
  t.equal(await statusOf(`${url}/api/org/audit`), 401);
  const nothing = await fetch(`${url}/nothing`, { headers: { "x-request-id": "abc" } });
  t.equal(nothing.status, 404);
  t.match(await nothing.json(), { error: "not_found", message: String, request_id: "abc" });
  const root = await fetch(`${url}/`);
  t.equal(root.status, 200);
  t.match(await root.text(), /<script type="module" src="\/assets\/page\./, "the console");
});

await t.test("a second start on the same data names the process that runs", async (t) => {
  const second = npmStart(t, { directory });
  t.equal(await second.exited, 1);
  const { pid, url } = first.state();
  t.equal(second.stderr(), `coffer: already running: process ${pid} at ${url} uses ${directory}\n`);
  t.equal(second.stdout(), "");
});

await t.test("a port that is taken is named in one line, and nothing is left of the try", async (t) => {
  const other = testDirectory(t);
  const { port } = new URL(first.state().url);
  const second = npmStart(t, { directory: other, env: { COFFER_PORT: port } });
  t.equal(await second.exited, 1);
  t.match(second.stderr(), new RegExp(`^coffer: port ${port} on 127\\.0\\.0\\.1 is taken: .*COFFER_PORT\\n$`));
  t.same(serversIn(other), []);
  t.same(readdirSync(other), []);
});

await t.test("a management port that is taken is named too", async (t) => {
  const { port } = new URL(first.state().url);
  const second = npmStart(t, { directory: testDirectory(t), env: { COFFER_MANAGEMENT_PORT: port } });
  t.equal(await second.exited, 1);
  t.match(
    second.stderr(),
    new RegExp(`^coffer: port ${port} on 127\\.0\\.0\\.1 is taken: .*COFFER_MANAGEMENT_PORT\\n$`),
  );
});

for (const store of ["redis", "nats", "postgres"] as const) {
  await t.test(`${store} is started again on its address when it dies`, async (t) => {
    const before = first.state();
    const killed = before.store_pids[store] ?? 0;
    process.kill(killed, "SIGKILL");
    await until(() => ![undefined, killed].includes(first.state().store_pids[store]));
    t.equal(first.state().stores[store], before.stores[store]);
    await until(async () => (await statusOf(`${before.management_url}/readyz`)) === 200);
    t.equal(await statusOf(`${before.url}/api/sm/v1/secrets`), 401);
  });
}

await t.test("a log that cannot be written costs its lines, which are counted", { skip: !linux }, async (t) => {
  const metrics = await (await fetch(`${first.state().management_url}/metrics`)).text();
  t.match(metrics, /^coffer_log_lines_lost_total\{service="siem-forwarder"\} [1-9]/m);
});

await t.test(
  "after a kill of everything the next start has every acknowledged write, also when stores hang on",
  async (t) => {
    const state = first.state();
    await query(state, "CREATE TABLE public.proof AS SELECT generate_series(1, 1000) AS n");
    const stores = Object.values(state.store_pids);
    // Stopped, they outlive what started them.
    for (const pid of stores) process.kill(pid, "SIGSTOP");
    killGroup(first.pid);
    await first.exited;
    t.same(living(stores), stores);
    first = npmStart(file, { directory, env });
    const again = await first.ready;
    t.same(living(processesOf(state)), [], "all leftovers have ended");
    t.same(await query(again, "SELECT count(*)::int AS n FROM public.proof"), [{ n: 1000 }]);
    t.equal(first.stdout(), `coffer ready at ${again.url}\n`, "the installation is not new");
  },
);

await t.test("SIGINT, sent to npm as by a terminal to all, ends it with 0 and leaves nothing", async (t) => {
  const state = first.state();
  process.kill(-first.pid, "SIGINT");
  const began = performance.now();
  t.equal(await first.exited, 0, first.stderr());
  t.ok(performance.now() - began < 15_000);
  t.same(living(processesOf(state)), []);
  t.same(serversIn(directory), []);
  t.same(readdirSync(join(directory, "run")), []);
  const ours = readdirSync(temporary).filter((name) => name !== "node-compile-cache");
  t.same(ours, [], "nothing outside the data directory, but for what npm itself caches");
});

await t.test("a wrong value and an unknown name stop the start, all at once and before anything is made", async (t) => {
  const other = join(testDirectory(t), "data");
  const wrong = npmStart(t, { directory: other, env: { COFFER_PORT: "eighty", COFFER_LIMIT_STRICKT: "5" } });
  t.equal(await wrong.exited, 1);
  t.match(wrong.stderr(), /COFFER_PORT must be a whole number/);
  t.match(wrong.stderr(), /COFFER_LIMIT_STRICKT is not a known name: did you mean COFFER_LIMIT_STRICT\?/);
  t.throws(() => readdirSync(other), { code: "ENOENT" });
});

await t.test("when the command's profile is of another address, the right one is among the lines", async (t) => {
  const home = testDirectory(t);
  mkdirSync(join(home, "coffer"));
  writeFileSync(join(home, "coffer/profile.json"), JSON.stringify({ version: 1, url: "http://127.0.0.1:8080" }));
  const other = npmStart(t, { directory: testDirectory(t), env: { XDG_CONFIG_HOME: home } });
  const { url } = await other.ready;
  await until(() => other.stdout().includes("COFFER_URL"));
  t.equal(other.stdout().split("\n")[2], `export COFFER_URL='${url}'`);
  const said = "the command on this machine works with http://127.0.0.1:8080; for this installation: ";
  await until(() => other.stderr().includes(said));
});

await t.test("with COFFER_BASE_URL the ready line and the lines to paste name that address", async (t) => {
  const base = "https://coffer.example.com";
  const other = npmStart(t, { directory: testDirectory(t), env: { COFFER_BASE_URL: `${base},http://127.0.0.1:1` } });
  const { url } = await other.ready;
  await until(() => other.stdout().includes("npx coffer register"));
  t.equal(other.stdout().split("\n")[0], `coffer ready at ${base}`);
  t.equal(other.stdout().split("\n")[2], `export COFFER_URL='${base}'`);
  await until(() => other.stderr().includes(`listening at ${url}`));
});

await t.test("a given store that does not answer is reported in one line", async (t) => {
  const other = testDirectory(t);
  mkdirSync(other, { recursive: true });
  const COFFER_POSTGRES_URL = "postgres://unknown:secret-word@127.0.0.1:1/none";
  const failed = npmStart(t, { directory: other, env: { COFFER_POSTGRES_URL } });
  t.equal(await failed.exited, 1);
  t.match(failed.stderr(), /^coffer: Postgres: .*ECONNREFUSED.*$/m);
  t.notMatch(failed.stderr(), /secret-word|\n {4}at /);
  t.same(serversIn(other), [], "the other stores are ended again");
});
