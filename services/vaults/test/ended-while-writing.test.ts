import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "./support/call.ts";
import { newCompany } from "./support/company.ts";
import { execute } from "./support/held-vault.ts";
import { logOut } from "./support/log-out.ts";
import type { Person } from "./support/people.ts";
import { startVaults } from "./support/service.ts";
import { jwe, sealed, share } from "./support/vaults.ts";

// Whatever a write has waited for at last, its session is looked at once more before it is done: here each waits in its own
// last statement, for the place of its record.

const service = await startVaults(t);
const { people } = service;
const { owner, member, vault, record, path } = await newCompany(service);
const colleague = await people.add({ orgId: vault.org_id ?? "", role: "member" });
await share(service, owner, vault.id, colleague, "read");

const content = { type: "login", encrypted_data: sealed() };
const writes: Record<string, [method: string, path: string, body?: object]> = {
  "a vault": ["POST", "/api/vaults", { name: "New", type: "shared", encrypted_key: sealed() }],
  "a vault's name": ["PATCH", path, { name: "Renamed" }],
  "a vault's flag": ["PATCH", path, { safe_for_travel: true }],
  "a vault deleted": ["DELETE", path],
  "a member": ["PUT", `${path}/members/${member.userId}`, { permission: "read", encrypted_key: jwe }],
  "a member removed": ["DELETE", `${path}/members/${colleague.userId}`],
  "an import": ["POST", `${path}/import`, { records: [content] }],
};
/** These are one statement each, which waits for a quarter of a second at most before all is asked anew. */
const statements: typeof writes = {
  "a record": ["POST", `${path}/records`, content],
  "a record's content": ["PUT", `${path}/records/${record.id}`, content],
  "a record deleted": ["DELETE", `${path}/records/${record.id}`],
};

/** All that they would change. */
const tables = ["vaults", "vault_members", "records", "tombstones", "sights", "deleted_vaults", "outbox"];
const written = () =>
  Promise.all(tables.map((table) => execute(service, `SELECT * FROM vaults.${table} t ORDER BY t::text COLLATE "C"`)));

const blocker = new pg.Client({ connectionString: service.postgres.url });
await blocker.connect();
t.teardown(() => blocker.end());
await execute(
  service,
  `CREATE FUNCTION vaults.wait() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END $$;
   CREATE TRIGGER wait BEFORE INSERT ON vaults.outbox FOR EACH ROW EXECUTE FUNCTION vaults.wait()`,
);

/** What came before has been told. */
const drained = () =>
  until("the outbox is empty", async () => {
    return (await execute(service, "SELECT FROM vaults.outbox LIMIT 1")).length === 0;
  });

/** When the statements began that wait where they write their record. */
async function waiting(): Promise<string[]> {
  const rows = await execute<{ began: string }>(
    service,
    `SELECT query_start::text AS began FROM pg_stat_activity JOIN pg_locks USING (pid)
     WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted`,
  );
  return rows.map(({ began }) => began);
}

/** Makes a request that waits where it writes its record, and runs `meanwhile` while it does. */
async function whileRecording<Answer>(request: () => Promise<Answer>, meanwhile: () => Promise<unknown>) {
  await blocker.query("SELECT pg_advisory_lock(4711)");
  try {
    const answer = request();
    await until("the request waits", async () => (await waiting()).length > 0);
    await meanwhile();
    await blocker.query("SELECT pg_advisory_unlock(4711)");
    return await answer;
  } finally {
    await blocker.query("SELECT pg_advisory_unlock_all()");
  }
}

/** A further session of a person. */
async function inAnotherSession({ userId }: Person): Promise<Person> {
  const session = { userId, sessionId: randomUUID() };
  return { ...session, token: await people.sign(session, 900) };
}

/** The statement that waits now gives up. */
async function waitedInVain(): Promise<void> {
  const [first] = await waiting();
  await until("it gives up", async () => first === undefined || !(await waiting()).includes(first));
}

for (const [what, [method, at, body]] of Object.entries({ ...writes, ...statements })) {
  await t.test(`who is logged out while ${what} is about to be committed has not done it`, async (t) => {
    const person = await inAnotherSession(owner);
    await drained();
    const before = await written();
    const request = () => call(service, person, method, at, body && { body });
    const answer = await whileRecording(request, async () => {
      await logOut(service, person);
      if (what in statements) await waitedInVain();
    });
    t.strictSame([answer.status, answer.body.error], [401, "invalid_token"]);
    t.strictSame(await written(), before);
  });
}

await t.test("a write that has waited longer than one judgement holds is done once it can be", async (t) => {
  const [method, at, body] = ["PUT", `${path}/records/${record.id}`, content];
  const answer = await whileRecording(() => call(service, owner, method, at, { body }), waitedInVain);
  t.equal(answer.status, 200);
  t.match((await call(service, owner, "GET", at)).body, content);
  const made = { ...content, id: randomUUID() };
  const create = () => call(service, owner, "POST", `${path}/records`, { body: made });
  const created = await whileRecording(create, waitedInVain);
  t.match(created, { status: 201, body: made }, "and its own id is not taken");
});
