import { randomUUID } from "node:crypto";
import { checkedFetch } from "@coffer/openapi";
import t from "tap";
import { draftsOf } from "./delivery/draft.ts";
import { startForwarder, startStores } from "./forwarder.ts";

const { url, people, append, list } = await startForwarder(t, await startStores(t));

await t.test("owner, admin and auditor may read the audit; a member may not", async (t) => {
  const orgId = randomUUID();
  await append(draftsOf(orgId, 1));
  for (const role of ["owner", "admin", "auditor"] as const) {
    const { status, body } = await list(await people.add([{ orgId, role }]));
    t.equal(status, 200, role);
    t.equal(body.data.length, 1);
  }
  t.match(await list(await people.add([{ orgId, role: "member" }])), { status: 403, body: { error: "access_denied" } });
});

await t.test("a suspended member may not, in any role", async (t) => {
  const orgId = randomUUID();
  await append(draftsOf(orgId, 1));
  for (const role of ["owner", "admin", "auditor", "member"] as const) {
    const answer = await list(await people.add([{ orgId, role, status: "suspended" }]));
    t.match(answer, { status: 403, body: { error: "access_denied" } }, role);
  }
});

await t.test("X-Coffer-Org chooses the organization; without it the oldest membership counts", async (t) => {
  const [oldest, second, foreign] = [randomUUID(), randomUUID(), randomUUID()];
  await append([...draftsOf(oldest, 1), ...draftsOf(second, 2), ...draftsOf(foreign, 3)]);
  const person = await people.add([
    { orgId: oldest, role: "auditor" },
    { orgId: second, role: "owner" },
  ]);
  const of = async (org: string) => list(person, {}, { "x-coffer-org": org });
  t.equal((await list(person)).body.data.length, 1);
  t.equal((await of(oldest)).body.data.length, 1);
  t.equal((await of(second)).body.data.length, 2);
  t.equal((await of(second.toUpperCase())).body.data.length, 2, "in either case");
  for (const org of [foreign, randomUUID(), "acme", "", foreign.toUpperCase()]) {
    const answer = await of(org);
    t.match(answer, { status: 403, body: { error: "access_denied" } }, `a foreign organization: ${org}`);
    t.equal(answer.body.data, undefined);
  }
});

await t.test("a person without any organization finds nothing here, whichever is named", async (t) => {
  const person = await people.add([]);
  const message = /create one, or accept an invitation/;
  t.match(await list(person), { status: 404, body: { error: "not_found", message } });
  t.match(await list(person, {}, { "x-coffer-org": randomUUID() }), { status: 404, body: { error: "not_found" } });
});

await t.test("without a genuine token of a person the answer is 401", async (t) => {
  const orgId = randomUUID();
  const person = await people.add([{ orgId, role: "owner" }]);
  const expired = await people.sign(person, -1);
  const [head = "", claims = "", signature = ""] = person.token.split(".");
  const tokens = [undefined, "", "x", `${head}.${claims}.`, `${head}.${claims}.${signature.slice(0, -4)}AAAA`, expired];
  for (const token of tokens) {
    const { status, headers, body } = await list(token === undefined ? undefined : { token });
    t.equal(status, 401);
    t.equal(body.error, "invalid_token");
    t.equal(headers.get("www-authenticate"), "Bearer");
  }
});

await t.test("a session of which auth-sm says that it has ended is refused", async (t) => {
  const person = await people.add([{ orgId: randomUUID(), role: "owner" }]);
  t.equal((await list(person)).status, 200);
  people.end(person);
  t.match(await list(person), { status: 401, body: { error: "invalid_token" } });
});

await t.test("other methods and paths are 404", async (t) => {
  const person = await people.add([{ orgId: randomUUID(), role: "owner" }]);
  const { status } = await list(person);
  t.equal(status, 200);
  for (const [method, path] of [
    ["POST", "/api/org/audit"],
    ["DELETE", "/api/org/audit"],
    ["GET", "/api/org/audit/"],
    ["PUT", "/api/org/siem/webhooks"],
  ] as const) {
    const answer = await checkedFetch(url + path, { method, headers: { authorization: `Bearer ${person.token}` } });
    t.equal(answer.status, 404, `${method} ${path}`);
  }
});
