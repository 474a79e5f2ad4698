import { randomUUID } from "node:crypto";
import { holdOutbox } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { newCompany } from "../support/company.ts";
import { execute } from "../support/held-vault.ts";
import { logOut } from "../support/log-out.ts";
import type { Person } from "../support/people.ts";
import { startVaults } from "../support/service.ts";
import { jwe, sealed, share } from "../support/vaults.ts";

// A session is checked again after the last wait of a write. Each write here waits in its last
// statement, for the row of its record.

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
/**
 * One statement each, which waits for at most a quarter of a second; then the request is authorized
 * again.
 */
const statements: typeof writes = {
  "a record": ["POST", `${path}/records`, content],
  "a record's content": ["PUT", `${path}/records/${record.id}`, content],
  "a record deleted": ["DELETE", `${path}/records/${record.id}`],
};

/** All rows that the writes would change. */
const tables = ["vaults", "vault_members", "records", "tombstones", "sights", "deleted_vaults", "outbox"];
const written = () =>
  Promise.all(tables.map((table) => execute(service, `SELECT * FROM vaults.${table} t ORDER BY t::text COLLATE "C"`)));

const { drained, whileRecording, waitedInVain } = await holdOutbox(t, { url: service.postgres.url, schema: "vaults" });

/** Another session of a person. */
async function inAnotherSession({ userId }: Person): Promise<Person> {
  const session = { userId, sessionId: randomUUID() };
  return { ...session, token: await people.sign(session, 900) };
}

for (const [what, [method, at, body]] of Object.entries({ ...writes, ...statements })) {
  await t.test(`a logout before the commit of ${what} prevents it`, async (t) => {
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

await t.test("a write that waits longer than one statement may is retried until it succeeds", async (t) => {
  const [method, at, body] = ["PUT", `${path}/records/${record.id}`, content];
  const answer = await whileRecording(() => call(service, owner, method, at, { body }), waitedInVain);
  t.equal(answer.status, 200);
  t.match((await call(service, owner, "GET", at)).body, content);
  const made = { ...content, id: randomUUID() };
  const create = () => call(service, owner, "POST", `${path}/records`, { body: made });
  const created = await whileRecording(create, waitedInVain);
  t.match(created, { status: 201, body: made }, "and its own id is not taken");
});
