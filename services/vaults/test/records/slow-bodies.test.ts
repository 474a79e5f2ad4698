import { sendSlowly } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { newCompany } from "../support/company.ts";
import { logOut } from "../support/log-out.ts";
import { startVaults } from "../support/service.ts";
import { execute } from "../support/held-vault.ts";
import { sealed } from "../support/vaults.ts";

// The caller may be logged out between the head of a request and its body.

const service = await startVaults(t);
const { people } = service;

const { member, record, path } = await newCompany(service);
const written = () =>
  execute(service, "SELECT (SELECT count(*) FROM vaults.vaults), (SELECT count(*) FROM vaults.records)");

await t.test("a caller who is logged out during the body writes nothing", async (t) => {
  const before = await written();
  const content = { type: "login", encrypted_data: sealed() };
  for (const [method, at, body] of [
    ["POST", `${path}/records`, content],
    ["PUT", `${path}/records/${record.id}`, content],
    ["POST", "/api/vaults", { name: "Mine", type: "personal", encrypted_key: sealed() }],
  ] as const) {
    const session = { userId: member.userId, sessionId: crypto.randomUUID() };
    const person = { ...session, token: await people.sign(session, 900) };
    const sent = { method, token: person.token, body };
    const answer = await sendSlowly(service.url + at, sent, () => logOut(service, person));
    t.equal(answer.status, 401, `${method} ${at}`);
    t.match(JSON.parse(answer.body), { error: "invalid_token" });
  }
  t.strictSame(await written(), before);
  t.match((await call(service, member, "GET", `${path}/records/${record.id}`)).body, {
    encrypted_data: record.encrypted_data,
  });
});
