import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { Redis } from "ioredis";
import t from "tap";
import { connectBus } from "@coffer/bus";
import { revokedSessionsKey } from "@coffer/events";
import { freePort, locate, prepareDatabase, tiedToThisProcess } from "@coffer/stores";
import { createTelemetry } from "@coffer/telemetry";
import { testDirectory, testPostgres, until } from "@coffer/testkit";
import { onBus, presentServices } from "../../local/src/services/services.ts";
import { type Container, podTemplates } from "../src/kubernetes.ts";
import { chart } from "../src/paths.ts";
import { render } from "../src/render.ts";
import { environmentOf, type Secrets } from "../src/run-pod.ts";

const directory = testDirectory(t);
const dev = { postgres: { enabled: true }, nats: { enabled: true }, redis: { enabled: true } };
const objects = render({ directory, values: { baseUrls: ["http://coffer.test"], existingSecret: "coffer-dev", dev } });
const { stdout } = spawnSync(
  process.execPath,
  [resolve(chart, "../../packages/cli/bin/start.mjs"), "dev", "secrets", "--json"],
  { encoding: "utf8" },
);
const { stringData: keys } = JSON.parse(stdout) as { stringData: Record<string, string> };
const secrets: Secrets = { "coffer-dev": keys };

const pods = podTemplates(objects);
function containerOf(name: string): Container {
  const [container] = pods.find(({ owner }) => owner.metadata.name === name)?.spec.containers ?? [];
  if (container === undefined) throw new Error(`nothing is called ${name}`);
  return container;
}

/** Without the fields that Kubernetes itself adds. */
const named = ({ env = [] }: Container): NonNullable<Container["env"]> =>
  env.filter(({ valueFrom }) => valueFrom?.fieldRef === undefined);

await t.test("coffer dev secrets has every key that a pod reads", (t) => {
  for (const { spec } of pods)
    for (const container of [...(spec.initContainers ?? []), ...spec.containers])
      t.doesNotThrow(() => environmentOf({ ...container, env: named(container) }, secrets), container.name);
  t.end();
});

/** Starts a server, which ends with the test. */
function startServer(command: readonly string[], env: Record<string, string>): () => string {
  const [program = "", ...args] = tiedToThisProcess([...command], "SIGKILL");
  const child = spawn(program, args, { env: { PATH: process.env["PATH"] ?? "", ...env }, cwd: directory });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
  t.teardown(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  return () => log;
}

await t.test(
  "a NATS server takes the rendered configuration, and lets each service in with its password",
  async (t) => {
    const map = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "coffer-nats");
    const file = join(directory, "nats.conf");
    writeFileSync(file, map?.data?.["nats.conf"] ?? "");
    const port = await freePort();
    const command = [...(await locate("nats-server")), "--config", file, "--addr", "127.0.0.1", "--port", String(port)];
    const log = startServer(command, environmentOf(containerOf("coffer-nats"), secrets));
    await until("the server is ready", () => log().includes("Server is ready") || failed(log()));
    for (const { name } of onBus(presentServices())) {
      const credentials = JSON.parse(keys[`${name}.COFFER_NATS_CREDENTIALS`] ?? "") as Record<
        string,
        { user: string; password: string }
      >;
      const { user = "", password = "" } = credentials[name] ?? {};
      const telemetry = createTelemetry({ service: name, level: "silent" });
      const bus = connectBus({ url: `nats://127.0.0.1:${port}`, user, password, service: name, telemetry });
      await until(`${name} is connected`, () => bus.connected);
      await bus.close();
    }
    t.notMatch(log(), /authorization violation/i);
  },
);

function failed(log: string): false {
  if (/\[FTL\]|FATAL|nats\.conf:\d+/.test(log)) throw new Error(log);
  return false;
}

await t.test("a Redis server takes the rendered arguments, and enforces the permissions of each service", async (t) => {
  const container = containerOf("coffer-redis");
  const environment = environmentOf(container, secrets);
  const filled = (container.args ?? []).map((word) =>
    word.replace(/\$\(([A-Z_]+)\)/g, (_all, name: string) => environment[name] ?? ""),
  );
  const port = await freePort();
  const command = [...(await locate("redis-server")), ...filled.map((word) => (word === "6379" ? String(port) : word))];
  const log = startServer([...command, "--bind", "127.0.0.1"], environment);
  await until("the server is ready", () => /Ready to accept/.test(log()) || failed(log()));
  for (const { name } of onBus(presentServices())) {
    const url = new URL(keys[`${name}.COFFER_REDIS_URL`] ?? "");
    url.host = `127.0.0.1:${port}`;
    const redis = new Redis(url.href, { lazyConnect: true, retryStrategy: () => null });
    redis.on("error", () => undefined);
    await redis.connect();
    t.equal(await redis.set("coffer:limit:test", "1"), "OK", name);
    const end = redis.zadd(revokedSessionsKey, 1, "session");
    if (name === "auth-sm") t.equal(await end, 1);
    else await t.rejects(end, /NOPERM/, name);
    await t.rejects(redis.get("other"), /NOPERM/, name);
    redis.disconnect();
  }
  const anyone = new Redis({ host: "127.0.0.1", port, lazyConnect: true, retryStrategy: () => null });
  anyone.on("error", () => undefined);
  await anyone.connect().catch(() => undefined);
  await t.rejects(anyone.ping(), /NOAUTH|closed/);
  anyone.disconnect();
});

await t.test("schema.sql has the effect of prepareDatabase, and may run again", async (t) => {
  const { url } = await testPostgres(t, { own: true });
  const owners = presentServices().flatMap(({ schema }) =>
    schema === null ? [] : [{ role: schema, schema, password: "secret" }],
  );
  const address = (database: string): string => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(() => client.end());
  await client.query("CREATE DATABASE by_file");
  const sql = readFileSync(resolve(chart, "files/schema.sql"), "utf8");
  for (const { role, schema, password } of [...owners, ...owners]) {
    const options = `-c coffer.role=${role} -c coffer.schema=${schema} -c coffer.password=${password}`;
    const owner = new pg.Client({ connectionString: address("by_file"), options });
    await owner.connect();
    await owner.query(sql);
    await owner.end();
  }
  const byFile = await describe(address("by_file"));
  for (const { role } of owners) await client.query(`ALTER ROLE ${role} RESET ALL`);
  await prepareDatabase({ url, database: "by_program", owners, extensions: ["pg_trgm"] });
  const byProgram = await describe(address("by_program"));
  t.same(byFile, byProgram);
  t.equal(byFile.schemas.length, owners.length);
  for (const { role, password } of owners) {
    const own = Object.assign(new URL(address("by_file")), { username: role, password });
    const asRole = new pg.Client(own.href);
    await asRole.connect();
    await asRole.query("CREATE TABLE made (id int)");
    await asRole.end();
  }
});

/** Roles, their settings, schemas, permissions in the database, and the extensions. */
async function describe(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  const rows = async (query: string): Promise<unknown[]> => (await client.query<Record<string, unknown>>(query)).rows;
  const roles = await rows(
    `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolinherit, rolconfig FROM pg_roles
      WHERE rolname NOT LIKE 'pg\\_%' ORDER BY 1`,
  );
  const schemas = await rows(
    `SELECT nspname, nspowner::regrole::text AS owner, nspacl::text FROM pg_namespace
      WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public') ORDER BY 1`,
  );
  const publicSchema = await rows("SELECT nspacl::text FROM pg_namespace WHERE nspname = 'public'");
  const database = await rows("SELECT datacl::text FROM pg_database WHERE datname = current_database()");
  const extensions = await rows("SELECT extname, extnamespace::regnamespace::text FROM pg_extension ORDER BY 1");
  await client.end();
  return { roles, schemas, publicSchema, database, extensions };
}
