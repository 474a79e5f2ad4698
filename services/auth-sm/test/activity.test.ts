import { Writable } from "node:stream";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import { testPostgres, type TestScope, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { createClientActivity } from "../src/clients/activity.ts";
import { schema } from "../src/migrate.ts";
import { touchClients } from "../src/store/machines/clients.ts";
import { call } from "./support/call.ts";
import { ask, createFolder, createMachine } from "./support/machines.ts";
import { register } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

const postgres = await testPostgres(t, { own: true });
const service = await startAuthSm(t, { COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8" }, { postgres });
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);

const logged: string[] = [];
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged.push(chunk.toString());
    done();
  },
});
const telemetry = createTelemetry({ service: "auth-sm", destination });
const database = createDatabase({ url: postgres.url, schema, telemetry });
t.teardown(() => database.close());
const activity = createClientActivity(database, telemetry.log);
t.teardown(() => activity.close());

const at = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
async function connection(t: TestScope): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** Where the one client of an application was last seen. */
const lastIp = async ({ applicationId } = machine): Promise<string | null | undefined> => {
  const path = `/api/org/applications/${applicationId}/clients`;
  return (await call(service, "GET", path, { token: owner.token })).body.data[0]?.last_ip;
};

await t.test("a client was here when its request was answered, not when it was turned away", async (t) => {
  const grants = [{ folder_id: folder, permission: "read" }] as const;
  const bound = await createMachine(service, owner, [...grants], { allowed_cidrs: ["127.0.0.0/8"] });
  const soon = new Date(service.clock.now().getTime() + 1000).toISOString();
  const expiring = await createMachine(service, owner, [...grants], { client_expires_at: soon });
  const ended = await createMachine(service, owner, [...grants]);
  await call(service, "DELETE", `/api/org/applications/${ended.applicationId}/clients/${ended.clientId}`, {
    token: owner.token,
  });
  service.clock.advance(1000);
  for (const path of ["/secrets", "/secrets/search", "/client", "/folders", `/secrets/${"A".repeat(22)}`]) {
    const headers = { "x-forwarded-for": "203.0.113.7" };
    t.equal((await ask(service, bound, "GET", path, { headers })).status, 403, path);
    for (const turnedAway of [expiring, ended])
      t.equal((await ask(service, turnedAway, "GET", path)).status, 401, path);
  }
  t.equal((await ask(service, machine, "GET", "/secrets/search")).status, 400, "an answer all the same");
  await until("what came after them is noted", async () => (await lastIp()) === "127.0.0.1");
  for (const turnedAway of [bound, expiring, ended]) t.equal(await lastIp(turnedAway), null);
});

await t.test("clients are recorded in one order, independent of the order of their requests", async (t) => {
  const other = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
  const [first, second] = [machine.clientId, other.clientId].sort();
  const [holder, prober] = [await connection(t), await connection(t)];
  // In the table it now stands behind the other.
  await prober.query("UPDATE auth_sm.clients SET name = name WHERE id = $1", [first]);
  await holder.query("BEGIN");
  await holder.query("SELECT FROM auth_sm.clients WHERE id = $1 FOR UPDATE", [second]);
  const sightings = [second, first].map((clientId = "") => ({ clientId, ip: "203.0.113.8", at: at(1).toISOString() }));
  const noted = touchClients(database.pool, sightings);
  await until("it holds the first and waits for the second", async () => {
    const free = "SELECT FROM auth_sm.clients WHERE id = $1 FOR UPDATE SKIP LOCKED";
    return (await prober.query(free, [first])).rowCount === 0;
  });
  await holder.query("COMMIT");
  await noted;
  t.equal(await lastIp(other), "203.0.113.8");
});

await t.test("an invalid address is not recorded and blocks no other", async (t) => {
  activity.seen(machine.clientId, "203.0.113.1", at(2));
  activity.seen(machine.clientId, "unknown", at(3));
  await until("the sighting before it is noted", async () => (await lastIp()) === "203.0.113.1");
  t.strictSame(logged, []);
});

await t.test("sightings that the database refuses are dropped, not tried for ever", async (t) => {
  activity.seen("no client's id", "203.0.113.2", at(4));
  await until("it was refused", () => logged.length > 0);
  t.equal(logged.length, 1);
  t.match(logged[0], /"level":"error".*cannot store when clients were last used/);
  activity.seen(machine.clientId, "203.0.113.3", at(5));
  await until("the next one is noted", async () => (await lastIp()) === "203.0.113.3");
  t.equal(logged.length, 1);
});

await t.test("sightings made while the database is away are noted when it is back", async (t) => {
  await postgres.stop();
  activity.seen(machine.clientId, "203.0.113.4", at(6));
  await until("it was tried", () => /"level":"warn".*will retry/.test(logged.at(-1) ?? ""));
  await postgres.start();
  await until("it is noted", async () => (await lastIp()) === "203.0.113.4");
  t.pass();
});
