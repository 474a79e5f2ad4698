import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createToken, newKeyPair } from "../support/machines.ts";
import { startCompany } from "../support/members.ts";
import type { Person } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);
const base = "/api/org/applications";

const create = ({ token }: Person, body: object) => call(service, "POST", base, { token, body });
const change = ({ token }: Person, id: string, body: object) =>
  call(service, "PATCH", `${base}/${id}`, { token, body });
const remove = ({ token }: Person, id: string) => call(service, "DELETE", `${base}/${id}`, { token });
const list = ({ token }: Person) => call(service, "GET", base, { token });

await t.test("a new application is answered as in the list", async (t) => {
  const answer = await create(owner, { name: "api", description: "the public interface" });
  t.equal(answer.status, 201);
  t.strictSame(Object.keys(answer.body).sort(), ["created_at", "description", "id", "name"]);
  t.match(answer.body, { name: "api", description: "the public interface", created_at: /\.\d{6}Z$/ });
  t.equal((await create(admin, { name: "worker" })).body.description, "");
  t.strictSame(
    (await list(owner)).body.data.find(({ id }) => id === answer.body.id),
    answer.body,
  );
  const record = await service.observer.record("the creation", ({ target }) => target.id === answer.body.id);
  t.match(record, {
    org_id: orgId,
    action: "application.created",
    target: { type: "application", parent_id: orgId },
    request: { status: 201 },
  });
});

await t.test("owners and admins manage applications, auditors see them, members do not", async (t) => {
  const { body } = await create(owner, { name: "roles" });
  for (const person of [owner, admin, auditor]) t.equal((await list(person)).status, 200);
  for (const person of [member, suspended]) t.equal((await list(person)).status, 403);
  for (const person of [auditor, member, suspended]) {
    t.equal((await create(person, { name: "theirs" })).status, 403);
    t.equal((await change(person, body.id, { name: "theirs" })).status, 403);
    t.equal((await remove(person, body.id)).status, 403);
  }
  for (const answer of [await change(stranger, body.id, { name: "theirs" }), await remove(stranger, body.id)]) {
    t.equal(answer.status, 404);
    t.equal(answer.body.error, "not_found");
  }
  t.notOk((await list(stranger)).body.data.some(({ id }) => id === body.id));
});

await t.test("missing or malformed fields are 400", async (t) => {
  const wrong = [
    {},
    { name: "" },
    { name: "n".repeat(129) },
    { name: 7 },
    { name: "x", description: "d".repeat(1025) },
    { name: "x", description: "\u0000" },
    { name: "x", description: null },
  ];
  for (const body of wrong) t.equal((await create(owner, body)).status, 400, JSON.stringify(body).slice(0, 60));
  const most = await create(owner, { name: "n".repeat(128), description: `two\nlines${"d".repeat(1015)}` });
  t.equal(most.status, 201);
  for (const body of wrong.slice(1)) t.equal((await change(owner, most.body.id, body)).status, 400);
});

await t.test("a change does not touch omitted fields", async (t) => {
  const { body } = await create(owner, { name: "before", description: "kept" });
  t.match((await change(owner, body.id, { name: "after" })).body, { name: "after", description: "kept" });
  t.match((await change(admin, body.id, { description: "" })).body, { name: "after", description: "" });
  t.match((await change(admin, body.id, {})).body, { name: "after", description: "" });
});

await t.test("a name is unique in its organization without regard to case", async (t) => {
  const { body } = await create(owner, { name: "Unique" });
  t.equal((await create(owner, { name: "uNIQUE" })).status, 409);
  const other = await create(owner, { name: "other" });
  t.equal((await change(owner, other.body.id, { name: "UNIQUE" })).status, 409);
  t.equal((await change(owner, body.id, { name: "unique" })).status, 200);
  t.equal((await create(stranger, { name: "unique" })).status, 201);
});

await t.test("deleting an application ends its machines at once and takes its tokens away", async (t) => {
  const { body } = await create(owner, { name: "doomed" });
  const folder = await createFolder(service, owner);
  const grants = [{ folder_id: folder, permission: "read" as const }];
  const machine = await createMachine(service, owner, grants, { applicationId: body.id });
  const { token } = await createToken(service, owner, grants, { applicationId: body.id });
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 200);
  t.equal((await remove(admin, body.id)).status, 204);
  t.equal((await remove(admin, body.id)).status, 404);
  t.equal((await ask(service, machine, "GET", "/secrets")).status, 401);
  const spent = await call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } });
  t.equal(spent.status, 401);
  const revoked = await service.observer.record(
    "the revocation",
    ({ action, target }) => action === "client.revoked" && target.id === machine.clientId,
  );
  t.match(revoked, { reason: "application_deleted", target: { parent_id: body.id } });
  const deleted = await service.observer.record(
    "the deletion",
    ({ action, target, outcome }) => action === "application.deleted" && target.id === body.id && outcome === "success",
  );
  t.match(deleted, { count: 1 });
});

await t.test("a path id of another shape names nothing", async (t) => {
  for (const id of ["x", "00000000-0000-7000-8000-000000000000", "%2e"]) {
    t.equal((await change(owner, id, { name: "x" })).status, 404);
    t.equal((await remove(owner, id)).status, 404);
    for (const below of ["clients", "tokens"]) {
      t.equal((await call(service, "GET", `${base}/${id}/${below}`, { token: owner.token })).status, 404);
    }
  }
});
