import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "./support/call.ts";
import { ask, createFolder, createMachine, createSecret, secretBody } from "./support/machines.ts";
import { execute } from "./support/members.ts";
import { beginLogin, register, registration } from "./support/people.ts";
import { startAuthSm } from "./support/service.ts";

// A full disk is what Postgres says of it: reads are answered, a statement that writes fails with
// 53100 (disk_full).

const service = await startAuthSm(t);
const owner = await register(service, { orgName: "Example" });
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
const uid = await createSecret(service, machine, folder);
await execute(
  service,
  `CREATE FUNCTION auth_sm.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full';
   END $$`,
);
/** From now on nothing can be added to this table, until the result is called. */
async function fill(table: string): Promise<() => Promise<void>> {
  await execute(
    service,
    `CREATE TRIGGER full_disk BEFORE INSERT ON auth_sm.${table} EXECUTE FUNCTION auth_sm.full_disk()`,
  );
  return async () => {
    await execute(service, `DROP TRIGGER full_disk ON auth_sm.${table}`);
  };
}
const read = () => ask(service, machine, "GET", `/secrets/${uid}`);
const write = (more: object = {}) => ask(service, machine, "POST", "/secrets", { body: secretBody(folder, more) });
const begin = () => beginLogin(service, owner).then(({ start }) => start);
const count = async (table: string): Promise<number> => {
  const [row] = (await execute(service, `SELECT count(*)::int AS rows FROM auth_sm.${table}`)) as { rows: number }[];
  return row?.rows ?? NaN;
};

await t.test("what cannot be written is answered 503 with Retry-After, and works again by itself", async (t) => {
  const register = { ...(await registration(service)), org_name: "Another" };
  const finish = () => call(service, "POST", "/api/auth/register/finish", { body: register });
  for (const [table, requests] of [
    ["secrets", { write }],
    ["login_starts", { begin }],
    ["sessions", { finish }],
    // The audit of all of them is kept here: without it nothing is done, and nothing is shown.
    ["outbox", { write, read, finish }],
  ] as const) {
    const before = { secrets: await count("secrets"), users: await count("users"), orgs: await count("orgs") };
    const empty = await fill(table);
    for (const [name, request] of Object.entries(requests)) {
      const answer = await request();
      t.match(answer, { status: 503, body: { error: "unavailable", request_id: /./ } }, `${name} without ${table}`);
      t.match(answer.headers.get("retry-after"), /^\d+$/);
      t.notMatch(JSON.stringify(answer.body), /disk|space|extend/i, "with no word of the store's inside");
    }
    if (table !== "outbox") t.equal((await read()).status, 200, `what needs no ${table} goes on`);
    const after = { secrets: await count("secrets"), users: await count("users"), orgs: await count("orgs") };
    t.strictSame(after, before, "nothing is half done");
    await empty();
    t.equal((await read()).status, 200);
    t.equal((await write()).status, 201);
    t.equal((await begin()).status, 200);
  }
  t.equal((await finish()).status, 201, "what was refused can be done as it was");
});

await t.test("all acknowledged changes are stored, and audited once", async (t) => {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let writing = true;
  const writer = async (): Promise<void> => {
    while (writing) {
      const { status, body } = await write();
      if (status === 201) acknowledged.push(body.uid);
      else {
        t.equal(status, 503);
        refused.push(body.error);
      }
    }
  };
  const writers = Promise.all([writer(), writer(), writer()]);
  for (const table of ["secrets", "outbox"]) {
    const [kept, lost] = [acknowledged.length, refused.length];
    await until("writes are acknowledged", () => acknowledged.length >= kept + 10);
    const empty = await fill(table);
    await until("writes are refused", () => refused.length >= lost + 10);
    await empty();
  }
  const kept = acknowledged.length;
  await until("writes are acknowledged again", () => acknowledged.length >= kept + 10);
  writing = false;
  await writers;
  const { body } = await ask(service, machine, "GET", "/secrets");
  const stored = new Set(body.data.map((secret) => secret.uid));
  t.strictSame(
    acknowledged.filter((each) => !stored.has(each)),
    [],
  );
  const creations = () => service.observer.records.filter(({ action }) => action === "secret.created");
  await until("every creation is on record", () => creations().length >= stored.size);
  const recorded = creations().map(({ target }) => target.id);
  t.strictSame(recorded.toSorted(), [...stored].toSorted(), "and exactly once");
});
