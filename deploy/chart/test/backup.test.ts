import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import t from "tap";
import * as events from "@coffer/events";
import { allRpcs, auditAppends, type RpcSubject } from "@coffer/events";
import { locatePostgresTools, startPostgresImage, type Store } from "@coffer/stores";
import { testDirectory } from "@coffer/testkit";
import type { Installation } from "../../local/src/data/installation.ts";
import { onBus, presentServices } from "../../local/src/services/services.ts";
import { memoryStorage } from "../../../packages/sdk/test/server/memory-storage.ts";
import { newPerson } from "../../local/test/cli/cli-person.ts";
import { npmStart, until } from "../../local/test/npm-start.ts";
import { holdings, newAccount, newDevice, secondSession, truth } from "../../local/test/vault-people.ts";
import { containersOf, type PodSpec, podTemplates } from "../src/kubernetes.ts";
import { chart, checkout } from "../src/paths.ts";
import { render } from "../src/render.ts";
import { type JobOutcome, runJob } from "../src/run-job.ts";
import type { Secrets } from "../src/run-pod.ts";

// The rendered Jobs of backups, run with real programs of Postgres against an installation that npm
// start runs. The database is then lost, and restored on another server.

const tools = await locatePostgresTools({ report: (line) => t.comment(line) });
const directory = testDirectory(t);
const claim = join(directory, "claim");
mkdirSync(claim);
const schemas = onBus(presentServices()).flatMap(({ name, schema }) => (schema === null ? [] : [{ name, schema }]));
/** Each command starts Node, and a drill a Postgres. */
const long = { timeout: 900_000 };

const objects = render({
  directory,
  values: {
    baseUrls: ["http://coffer.test"],
    existingSecret: "coffer-stores",
    backup: { enabled: true, existingClaim: "coffer-backup", keep: 2 },
  },
});

function specOf(component: string): PodSpec {
  const pod = podTemplates(objects).find(({ owner }) => owner.kind === "CronJob" && owner.metadata.name === component);
  if (pod === undefined) throw new Error(`there is no CronJob ${component}`);
  return pod.spec;
}

let runs = 0;
function job(
  component: "coffer-backup" | "coffer-restore-drill" | "coffer-restore",
  secrets: Secrets,
): Promise<JobOutcome> {
  runs += 1;
  const place = join(directory, `run-${runs}`);
  mkdirSync(join(place, "work"), { recursive: true });
  return runJob({
    spec: specOf(component),
    name: `${component}-${runs}`,
    secrets,
    volumes: { backup: claim },
    configMaps: { scripts: resolve(chart, "files/backup") },
    directory: place,
    tools,
  });
}

/** A server as an operator has one, in a separate folder. */
async function newServer(name: string): Promise<Store> {
  const env = { POSTGRES_PASSWORD: randomBytes(12).toString("hex"), POSTGRES_DB: "coffer" };
  const server = await startPostgresImage({ tools, directory: join(directory, name), env });
  t.teardown(() => server.stop());
  return server;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
}

const backups = (): string[] => readdirSync(claim).sort();

type Relayed = Pick<RpcSubject<never, unknown>, "subject" | "responder" | "callers">;

/**
 * The requests that a service leaves in its outbox: a message is deleted there when its receiver
 * has stored it.
 */
function relayedRequests(): readonly Relayed[] {
  const sources = schemas.flatMap(({ name }) => sourcesBelow(resolve(checkout, "services", name, "src"))).join("\n");
  const names = [...sources.matchAll(/\benqueue\(\w+, (\w+),/g)].map(([, name = ""]) => name);
  const all: readonly Relayed[] = allRpcs;
  const found = names.flatMap((name) => all.find((subject) => subject === Reflect.get(events, name)) ?? []);
  return [...found, ...auditAppends];
}

// ---- an installation on a Postgres of its operator

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };
const file = t;
const data = testDirectory(t);
const first = await newServer("first");
let coffer = npmStart(file, {
  directory: data,
  env: { ...limits, COFFER_PROCESSES: "separate", COFFER_POSTGRES_URL: first.url },
});
const { url } = await coffer.ready;
const { postgres: passwords } = JSON.parse(readFileSync(join(data, "installation.json"), "utf8")) as Installation;

/** The Secret of the chart, with the addresses of each service's role on that server. */
const secretsOn = (server: Store): Secrets => ({
  "coffer-stores": Object.fromEntries(
    schemas.map(({ name, schema }) => {
      const own = Object.assign(new URL(server.url), {
        username: schema,
        password: encodeURIComponent(passwords[name]),
      });
      return [`${name}.COFFER_POSTGRES_URL`, own.href];
    }),
  ),
});

const alice = await newPerson(file, url, "alice@example.com");
await alice.data(["folder", "create", "production"]);
const uri = "coffer://production/database/field/password";
await alice.data(["set", uri], { input: "s3cret" });

const session = await newAccount(url, "carol@example.com");
const storage = [memoryStorage().storage, memoryStorage().storage] as const;
const carol = await newDevice(file, url, session, storage[0]);
const carolToo = await newDevice(file, url, await secondSession(url, "carol@example.com"), storage[1]);
const vault = await carol.me.vaults.create("Private");
const record = await carol.me.records.create(vault.id, { type: "login", fields: { name: "mail", password: "before" } });
for (const device of [carol, carolToo])
  await until(async () => (await holdings(device))["Private"]?.["mail"] === "before");

await t.test("a service is dumped before those that receive its messages", (t) => {
  const order: string[] = containersOf(specOf("coffer-backup")).flatMap(
    ({ name }) => /^dump-(.*)$/.exec(name)?.[1] ?? [],
  );
  t.same([...order].sort(), schemas.map(({ name }) => name).sort());
  const relayed = relayedRequests();
  t.ok(relayed.length > auditAppends.length + 2);
  for (const { subject, responder, callers } of relayed)
    for (const caller of callers)
      if (order.includes(caller) && caller !== responder)
        t.ok(order.indexOf(caller) < order.indexOf(responder), `${subject}: ${caller} before ${responder}`);
  t.end();
});

await t.test(
  "a backup is a folder with a dump of each schema, for its owner alone; the newest ones stay",
  long,
  async (t) => {
    // Writes go on meanwhile.
    const stop = new AbortController();
    const written = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1)
        await carol.me.records.create(vault.id, { type: "login", fields: { name: `during ${n}`, password: "x" } });
    })();
    for (let n = 1; n <= 3; n += 1) {
      const done = await job("coffer-backup", secretsOn(first));
      t.equal(done.code, 0, done.log);
    }
    stop.abort();
    await written;
    t.match(backups(), [/^coffer-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/, /^coffer-/]);
    t.equal(backups().length, 2, "backup.keep");
    const [oldest = ""] = backups();
    const expected = [...schemas.map(({ schema }) => `${schema}.dump`), "manifest.json"];
    t.same(readdirSync(join(claim, oldest)).sort(), expected.sort());
    t.equal(statSync(join(claim, oldest)).mode & 0o777, 0o700);
    t.notMatch(readFileSync(join(claim, oldest, "auth_sm.dump"), "latin1"), /s3cret|correct horse/);
  },
);

await t.test("a dump that fails leaves no backup, and its remains go with a later one", long, async (t) => {
  const before = backups();
  const wrong = structuredClone(secretsOn(first)) as Record<string, Record<string, string>>;
  Object.assign(wrong["coffer-stores"] ?? {}, {
    "vaults.COFFER_POSTGRES_URL": "postgres://vaults:no@127.0.0.1:1/coffer",
  });
  const done = await job("coffer-backup", wrong);
  t.not(done.code, 0);
  t.equal(done.ran.at(-1), "dump-vaults");
  const [partial = "", ...rest] = backups();
  t.match(partial, /^\.partial-coffer-backup-/);
  t.same(rest, before);
  const dayAndMore = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(join(claim, partial), dayAndMore, dayAndMore);
  t.match(await job("coffer-backup", secretsOn(first)), { code: 0 });
  t.notOk(backups().includes(partial));
});

async function drillMetrics(): Promise<Record<string, number>> {
  const address = coffer.state().services["siem-forwarder"]?.management_url ?? "";
  const text = await (await fetch(`${address}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^coffer_restore_drill_(\w+)\{[^}]*\} (\S+)$/gm)].map(
      ([, name = "", value]) => [name, Number(value)] as const,
    ),
  );
}

await t.test(
  "the drill restores the newest backup, verifies every chain, and the running service shows it",
  long,
  async (t) => {
    const { code, log, ran } = await job("coffer-restore-drill", secretsOn(first));
    t.equal(code, 0, log);
    t.equal(ran.at(-1), "verify");
    const result = JSON.parse(log.slice(log.lastIndexOf("verify: ") + "verify: ".length)) as {
      chains: number;
      records: number;
      rows: Record<string, number>;
    };
    t.same(Object.keys(result.rows).sort(), schemas.map(({ schema }) => schema).sort());
    t.equal(result.chains, 2);
    t.ok(result.records > 10);
    let metrics = await drillMetrics();
    await until(async () => ((metrics = await drillMetrics())["chains"] ?? 0) > 0);
    t.match(metrics, { chains: 2, failed: 0, rows: Object.values(result.rows).reduce((sum, rows) => sum + rows) });
  },
);

await t.test("the drill finds a dump that is damaged, and a chain that is not whole", long, async (t) => {
  const newest = backups().at(-1) ?? "";
  const dump = join(claim, newest, "auth_sm.dump");
  const whole = readFileSync(dump);
  const damaged = Buffer.from(whole);
  damaged.writeUInt8(damaged.readUInt8(damaged.length >> 1) ^ 1, damaged.length >> 1);
  writeFileSync(dump, damaged);
  const found = await job("coffer-restore-drill", secretsOn(first));
  t.match(found, { code: 1, ran: ["choose"], log: /the dump of auth_sm is not what was written/ });
  writeFileSync(dump, whole);

  const owner = new pg.Client(first.url);
  await owner.connect();
  const change = async (from: string, to: string): Promise<void> => {
    await owner.query(`UPDATE siem_forwarder.audit_records
      SET record = replace(record::text, '"outcome":"${from}"', '"outcome":"${to}"')::json WHERE seq = 3`);
  };
  await change("success", "denied");
  t.match(await job("coffer-backup", secretsOn(first)), { code: 0 });
  const broken = await job("coffer-restore-drill", secretsOn(first));
  t.match(broken, { code: 1, log: /the audit chain [0-9a-f-]{36}: record 3 is changed/ });
  await until(async () => (await drillMetrics())["failed"] === 1);
  await change("denied", "success");
  await owner.end();
});

await t.test("a restore is refused over data, and beside services that run", long, async (t) => {
  const beside = await job("coffer-restore", secretsOn(first));
  t.match(beside, { code: 3, log: /other connections: scale the services to 0 first/ });
  process.kill(coffer.pid, "SIGTERM");
  t.equal(await coffer.exited, 0);
  const over = await job("coffer-restore", secretsOn(first));
  t.match(over, { code: 3, log: /the schema billing_webhook is not empty/ });
  t.equal(over.ran.at(-1), "check-billing-webhook", "before anything is written");
});

await t.test(
  "restored on another server: devices converge, and clients say that the service went back",
  long,
  async (t) => {
    // A backup of everything up to here, and then changes that it does not have.
    const start = (server: Store) =>
      npmStart(file, {
        directory: data,
        env: {
          ...limits,
          COFFER_PROCESSES: "separate",
          COFFER_POSTGRES_URL: server.url,
          COFFER_PORT: new URL(url).port,
        },
      });
    coffer = start(first);
    await coffer.ready;
    t.match(await job("coffer-backup", secretsOn(first)), { code: 0 });
    await carol.me.records.update(vault.id, record.id, {
      fields: { name: "mail", password: "after" },
    });
    await carol.me.records.create(vault.id, { type: "login", fields: { name: "late", password: "x" } });
    for (const device of [carol, carolToo])
      await until(async () => (await holdings(device))["Private"]?.["mail"] === "after");
    const folders = JSON.parse(await alice.data(["folder", "ls", "--json"])) as { id: string }[];
    await alice.data(["folder", "rotate", "production"]);
    await alice.data(["set", uri], { input: "changed" });
    process.kill(coffer.pid, "SIGTERM");
    await coffer.exited;
    await first.stop();

    const second = await newServer("second");
    const sql = resolve(chart, "files/schema.sql");
    for (const { name, schema } of schemas) {
      const options = `-c coffer.role=${schema} -c coffer.schema=${schema} -c coffer.password=${passwords[name]}`;
      const { status, stderr } = spawnSync(
        join(tools.folder, "psql"),
        [second.url, "--variable=ON_ERROR_STOP=1", `--file=${sql}`],
        { encoding: "utf8", env: { ...process.env, ...tools.env, PGOPTIONS: options } },
      );
      t.equal(status, 0, stderr);
    }
    const restored = await job("coffer-restore", secretsOn(second));
    t.equal(restored.code, 0, restored.log);
    t.match(restored.log, /verify: .*"problem":null/);

    coffer = start(second);
    await coffer.ready;
    for (const device of [carol, carolToo])
      await until(async () => (await holdings(device))["Private"]?.["mail"] === "before");
    for (const device of [carol, carolToo]) t.same(await holdings(device), await truth(carol.me));
    t.notOk((await holdings(carol))["Private"]?.["late"]);
    // What is written now reaches every device.
    await carol.me.records.create(vault.id, { type: "login", fields: { name: "new", password: "y" } });
    for (const device of [carol, carolToo])
      await until(async () => (await holdings(device))["Private"]?.["new"] === "y");

    const told = await alice.run(["read", uri]);
    t.equal(told.code, 1);
    t.match(told.stderr, /was verified before.*restore from a backup.*coffer folder trust/);
    const shown = await alice.data(["member", "key", "alice@example.com", "--json"]);
    const { fingerprint } = JSON.parse(shown) as { fingerprint: { hex: string } };
    await alice.data(["folder", "trust", folders[0]?.id ?? "", "--fingerprint", fingerprint.hex]);
    t.equal(await alice.data(["read", uri]), "s3cret");
    // The next drill is one of the restored installation.
    t.match(await job("coffer-backup", secretsOn(second)), { code: 0 });
    t.match(await job("coffer-restore-drill", secretsOn(second)), { code: 0 });
  },
);
