import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { natsServerConfig, natsUsers } from "@coffer/bus";
import { serviceNames } from "@coffer/events";
import { personClient } from "@coffer/sdk";
import { testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import { Redis } from "ioredis";
import pg from "pg";
import t, { type Test } from "tap";
import { hecToken, startHec } from "../../../../services/siem-forwarder/test/delivery/receivers/vendors.ts";
import { checkout } from "../../src/checkout.ts";
import { startWholeLoad } from "../replicas/load.ts";
import { migrate } from "../replicas/migrate.ts";
import { openReplicas } from "../replicas/replicas.ts";
import { newDatabase, newPasswords, type ReplicaStores, storesOf } from "../replicas/stores.ts";
import { newAccount } from "../vault-people.ts";

// docs/operations/rotate-keys.md, followed on an installation that people, machines and devices use
// meanwhile.

const run = promisify(execFile);
const page = readFileSync(join(checkout, "docs/operations/rotate-keys.md"), "utf8");
const newKey = (): string => randomBytes(32).toString("base64url");

const [postgres, redis, siem] = await Promise.all([testPostgres(t, { own: true }), testRedis(t), startHec(t)]);
const [firstPasswords, secondPasswords] = [newPasswords(), newPasswords()];
const configOf = (...users: ReturnType<typeof natsUsers>[]): string =>
  natsServerConfig({ users: users.flat(), host: "127.0.0.1", port: 4222 });
const firstUsers = natsUsers(firstPasswords);
const secondUsers = natsUsers(secondPasswords).map((user) => ({ ...user, user: `${user.user}-2` }));
const nats = await testNats(t, { config: configOf(firstUsers) });
const natsCredentials = (passwords: typeof firstPasswords, suffix: string) =>
  Object.fromEntries(
    serviceNames.map((name) => [name, { user: name + suffix, password: passwords[name] }]),
  ) as typeof nats.credentials; // one for each service

const { url: databaseUrl, urls: postgresUrls } = await newDatabase(postgres.url);
await migrate(checkout, postgresUrls);
const credentials = natsCredentials(firstPasswords, "");
const stores = storesOf({ databaseUrl, postgresUrls, nats: { url: nats.url, credentials }, redis });
const replicas = await openReplicas(t, stores);
const [oldKey, nextKey] = [newKey(), newKey()];
const env = (siemKeys: string) => ({ COFFER_SIEM_KEYS: siemKeys, COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8" });
await replicas.add({ env: env(oldKey) });
const load = await startWholeLoad(t, replicas, { databaseUrl: () => databaseUrl });
const siemCredentials = JSON.stringify({ token: hecToken });
await load.cli.data(["siem", "create", "--format", "hec", "--to", siem.url, "--name", "Splunk"], {
  input: siemCredentials,
});
const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
t.teardown(() => database.end());

/** Everyone goes on, no request failed, and new records reach the SIEM. */
async function goesOn(t: Test, when: string): Promise<void> {
  const { length } = siem.taken;
  await load.progress();
  await until("the SIEM gets records", () => siem.taken.length > length, 60);
  t.same(replicas.takeFailures(), [], when);
}

const accepts = (address: string): Promise<boolean> =>
  new pg.Client({ connectionString: address }).connect().then(
    () => true,
    () => false,
  );

/** The second logins, once there are some. */
let second: Partial<ReplicaStores> = {};
const rotate = (...args: string[]) =>
  run(process.execPath, [join(checkout, "services/auth-sm/src/rotate.ts"), ...args], {
    env: { PATH: process.env["PATH"], COFFER_POSTGRES_URL: (second.postgresUrls ?? postgresUrls)["auth_sm"] },
  });

async function signingKeys(): Promise<string[]> {
  const { keys } = (await (await fetch(`${replicas.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

await t.test("the keys in Postgres: no restart", async (t) => {
  const before = await signingKeys();
  await rotate("signing-key");
  await until("the new signing key is published", async () => (await signingKeys()).length > before.length);
  await rotate("opaque-setup");
  await goesOn(t, "with a new signing key and a new OPAQUE setup");
});

await t.test("the passwords of Postgres, NATS and Redis: one rolling restart", async (t) => {
  const [, sql = ""] = /```sql\n([^`]*)```/.exec(page) ?? [];
  const newUrls: Record<string, string> = {};
  for (const [schema, address] of Object.entries(postgresUrls)) {
    const role = new URL(address).username;
    const password = randomBytes(18).toString("hex");
    await database.query(sql.replaceAll("auth_sm", role).replace("a new password", password));
    newUrls[schema] = address.replace(/\/\/[^@]*@/, `//${role}_2:${password}@`);
  }
  nats.reload(configOf(firstUsers, secondUsers));
  const owner = new Redis(redis.url);
  t.teardown(() => owner.disconnect());
  for (const name of serviceNames) await owner.call("ACL", "SETUSER", name, `>${secondPasswords[name]}`);
  second = {
    postgresUrls: newUrls,
    natsCredentials: natsCredentials(secondPasswords, "-2"),
    redisUrls: Object.fromEntries(
      serviceNames.map((name) => [name, redis.urls[name].replace(/\/\/[^@]*@/, `//${name}:${secondPasswords[name]}@`)]),
    ) as typeof redis.urls, // one for each service
  };
  t.same(await replicas.roll({ stores: second, env: env(oldKey) }), [], "each former replica ended in order");
  await goesOn(t, "while both are accepted");

  for (const address of Object.values(postgresUrls))
    await database.query(`ALTER ROLE ${new URL(address).username} PASSWORD NULL`);
  nats.reload(configOf(secondUsers));
  for (const [name, address] of Object.entries(redis.urls))
    await owner.call("ACL", "SETUSER", name, `<${decodeURIComponent(new URL(address).password)}`);
  t.same(
    await Promise.all(Object.values(postgresUrls).map(accepts)),
    Object.keys(postgresUrls).map(() => false),
  );
  await goesOn(t, "with the new ones alone");
});

await t.test("the keys of SIEM credentials: three rolling restarts", async (t) => {
  const sealed = async (): Promise<string[]> => {
    const { rows } = await database.query<{ credentials: string }>(
      "SELECT credentials FROM siem_forwarder.siem_endpoints",
    );
    return rows.map(({ credentials }) => credentials.split(".")[1] ?? "");
  };
  const [before] = await sealed();
  for (const keys of [`${oldKey},${nextKey}`, `${nextKey},${oldKey}`]) {
    t.same(await replicas.roll({ services: ["siem-forwarder"], stores: second, env: env(keys) }), []);
    await goesOn(t, keys.startsWith(oldKey) ? "both keys, the old one seals" : "both keys, the new one seals");
  }
  await until("the credentials are sealed under the new key", async () => !(await sealed()).includes(before ?? ""), 90);
  t.same(await replicas.roll({ services: ["siem-forwarder"], stores: second, env: env(nextKey) }), []);
  await goesOn(t, "with the new key alone");
});

await t.test("nothing acknowledged was lost, and no endpoint has failed", async (t) => {
  t.same(await load.stop(), []);
  const [endpoint] = JSON.parse(await load.cli.data(["siem", "ls", "--json"])) as { last_delivery: object }[];
  t.match(endpoint?.last_delivery, { error: null });
});

await t.test("a signing key that has leaked: clients renew their tokens", async (t) => {
  const me = personClient(await newAccount(replicas.url, "carol@example.com"), replicas.url);
  const before = await signingKeys();
  await rotate("signing-key", "--withdraw-old");
  await until("the old keys are withdrawn", async () => (await signingKeys()).every((kid) => !before.includes(kid)));
  t.same(await me.vaults.list(), []);
});
