import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { type ServiceName, serviceNames } from "@coffer/events";
import { redisAcl, redisUsers } from "@coffer/ratelimit";
import { prepareDatabase } from "@coffer/stores";
import { testDirectory, testPostgres } from "@coffer/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import pg from "pg";
import t from "tap";
import { parse } from "yaml";
import { checkout } from "../../local/src/checkout.ts";
import { loadMigration, onBus, presentServices } from "../../local/src/services/services.ts";
import { caddyFile, composeFile, secretNames } from "../src/compose-file.ts";
import { newSecrets, writeSecrets } from "../src/secrets.ts";

interface Container {
  image: string;
  user?: string;
  read_only?: boolean;
  environment?: Record<string, string>;
  secrets?: (string | { source: string })[];
  networks: string[] | Record<string, unknown>;
  depends_on?: Record<string, { condition: string }>;
  command?: string[];
}
interface ComposeFile {
  services: Record<string, Container>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean } | null>;
}

const folder = join(checkout, "deploy/compose");
const rows = presentServices();
const storing = rows.filter(({ schema }) => schema !== null);
const written = readFileSync(join(folder, "compose.yaml"), "utf8");
const file = parse(written) as ComposeFile; // the schema below checks it

await t.test("compose.yaml and Caddyfile equal the output of npm run compose -- --write", (t) => {
  t.equal(written, composeFile(rows));
  t.equal(readFileSync(join(folder, "Caddyfile"), "utf8"), caddyFile(rows));
  t.end();
});

await t.test("compose.yaml is valid by the Compose Specification", (t) => {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, "schemas/compose-spec.json"), "utf8")) as object;
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  t.ok(validate(file), JSON.stringify(validate.errors));
  t.notOk(validate({ services: { vaults: { imagee: "x" } } }), "the schema refuses an unknown name");
  t.end();
});

await t.test("each service has a container, each schema a migration, and there are no others", (t) => {
  const expected = [
    ...rows.map(({ name }) => name),
    ...storing.map(({ name }) => `${name}-migration`),
    ...["postgres", "nats", "redis", "caddy"],
  ];
  t.same(Object.keys(file.services).sort(), expected.sort());
  for (const { name } of storing) {
    t.match(file.services[`${name}-migration`]?.command, ["node", "src/migrate-main.ts"]);
    t.match(file.services[name]?.depends_on?.[`${name}-migration`], { condition: "service_completed_successfully" });
  }
  t.end();
});

await t.test("each container has only the secrets that it reads, and no value is in the file", (t) => {
  t.same(Object.keys(file.secrets), secretNames(rows));
  t.same(Object.keys(newSecrets(rows)).sort(), secretNames(rows).sort());
  for (const [name, { environment = {}, secrets = [] }] of Object.entries(file.services)) {
    const given = secrets.map((secret) => (typeof secret === "string" ? secret : secret.source));
    const read = Object.entries(environment).flatMap(([key, value]) =>
      key.endsWith("_FILE") ? [value.replace("/run/secrets/", "")] : [],
    );
    t.same(
      read.filter((secret) => !given.includes(secret)),
      [],
      name,
    );
    const service = name.replace(/-migration$/, "");
    if (rows.some((row) => row.name === service))
      t.ok(
        given.every((secret) => secret.startsWith(`${service}.`) && read.includes(secret)),
        `${name}: its own alone`,
      );
    t.same(
      Object.keys(environment).filter(
        (key) => /PASSWORD|CREDENTIALS|_URL$/.test(key) && !/_FILE$|BASE_URL|NATS_URL/.test(key),
      ),
      [],
    );
  }
  t.end();
});

await t.test("the stores are in a network without internet, and only siem-forwarder has access to it", (t) => {
  const open = Object.keys(file.networks).filter((name) => file.networks[name]?.internal !== true);
  t.same(open.sort(), ["edge", "egress"]);
  const reaching = Object.entries(file.services)
    .filter(([, { networks }]) =>
      (Array.isArray(networks) ? networks : Object.keys(networks)).some((name) => open.includes(name)),
    )
    .map(([name]) => name);
  t.same(reaching.sort(), ["caddy", "siem-forwarder"]);
  for (const { name } of rows) t.equal(file.services[name]?.read_only, true, name);
  t.end();
});

/** The service of a path in the Caddyfile: the first matching route, as for `handle` in Caddy. */
function routed(path: string): string | undefined {
  const text = readFileSync(join(folder, "Caddyfile"), "utf8");
  const routes = [...text.matchAll(/(@\S+) path (\S+) (\S+)\n\thandle \1 \{\n\t\treverse_proxy (\S+):8080\n/g)];
  const found = routes.find(([, , exact, below = ""]) => path === exact || path.startsWith(below.slice(0, -1)));
  return found?.[4] ?? /\thandle \{\n\t\treverse_proxy (\S+):8080\n/.exec(text)?.[1];
}

await t.test("Caddy leads each path to the service that owns it", (t) => {
  for (const { name, paths } of rows)
    for (const path of paths) {
      t.equal(routed(path), name, path);
      t.equal(routed(`${path}/x`), name, `${path}/x`);
    }
  t.equal(routed("/api/org/members"), "auth-sm");
  t.equal(routed("/api/vaultsx"), "console", "the shortest path, which knows no such file");
  t.end();
});

await t.test("passwords are new each time, and the secrets of an installation are never replaced", (t) => {
  const [first, second] = [newSecrets(rows), newSecrets(rows)];
  for (const name of secretNames(rows)) t.not(first[name], second[name], name);
  const place = testDirectory(t);
  writeSecrets(place, rows, { domain: "vault.example.com", version: "1.2.3" });
  t.equal(readFileSync(join(place, ".env"), "utf8"), "COFFER_DOMAIN=vault.example.com\nCOFFER_VERSION=1.2.3\n");
  t.equal(statSync(join(place, "secrets")).mode & 0o777, 0o700);
  t.throws(() => writeSecrets(place, rows, { domain: "vault.example.com", version: "1.2.3" }), /exists/);
  t.end();
});

await t.test("NATS and Redis have the users and permissions of packages/bus and packages/ratelimit", (t) => {
  const secrets = newSecrets(rows);
  const passwords = { nats: {}, redis: {} } as Record<"nats" | "redis", Partial<Record<ServiceName, string>>>;
  for (const { name } of onBus(rows)) {
    const credentials = JSON.parse(secrets[`${name}.nats-credentials`] ?? "") as Record<string, { password: string }>;
    passwords.nats[name] = credentials[name]?.password ?? "";
    passwords.redis[name] = new URL(secrets[`${name}.redis-url`] ?? "").password;
  }
  // Users of services that this checkout lacks are not compared.
  const all = (known: Partial<Record<ServiceName, string>>) =>
    Object.fromEntries(serviceNames.map((name) => [name, known[name] ?? "absent"])) as Record<ServiceName, string>; // one each
  const nats = natsServerConfig({ users: natsUsers(all(passwords.nats)), host: "0.0.0.0", port: 4222 });
  const others = (text: string | undefined) =>
    text?.replace(/password: "[^"]*"/g, (found) =>
      Object.values(passwords.nats).some((word) => found.includes(word)) ? found : "other",
    );
  t.equal(others(secrets["nats.conf"]), others(nats));
  const acl = redisAcl({ users: redisUsers(all(passwords.redis)), version: 8 });
  const lines = secrets["redis.conf"]?.split("\n") ?? [];
  for (const { name } of onBus(rows))
    t.ok(lines.includes(acl.find((line) => line.startsWith(`user ${name} `)) ?? ""), name);
  t.ok(lines.includes("user default reset off"));
  t.equal(lines.filter((line) => line.startsWith("user ")).length, acl.length);
  t.end();
});

await t.test("the SQL makes the roles and schemas that npm start makes, and the migrations run on it", async (t) => {
  const server = await testPostgres(t, { own: true });
  const secrets = newSecrets(rows);
  const query = async <Row extends object>(database: string, text: string): Promise<Row[]> => {
    const url = new URL(server.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  await query("postgres", "CREATE DATABASE coffer");
  await query("coffer", secrets["postgres.sql"] ?? "");
  const state = async () => ({
    roles: await query(
      "coffer",
      "select rolname, rolsuper, rolcreatedb, rolconfig from pg_roles where rolcanlogin order by 1",
    ),
    schemas: await query(
      "coffer",
      "select nspname, nspowner::regrole::text, nspacl::text from pg_namespace order by 1",
    ),
    database: await query("coffer", "select datacl::text from pg_database where datname = 'coffer'"),
  });
  const made = await state();
  const urls = new Map(
    storing.map((row) => {
      const url = new URL(secrets[`${row.name}.postgres-url`] ?? "");
      url.host = new URL(server.url).host;
      return [row, url] as const;
    }),
  );
  const owners = [...urls].map(([{ schema }, { password }]) => ({
    role: schema ?? "",
    schema: schema ?? "",
    password,
  }));
  await prepareDatabase({ url: server.url, database: "coffer", owners, extensions: ["pg_trgm"] });
  t.same(await state(), made);
  for (const [row, url] of urls) {
    const { migrateService } = await loadMigration(row);
    t.ok((await migrateService({ url: url.href })).length > 0, row.name);
  }
});
