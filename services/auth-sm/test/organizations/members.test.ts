import t from "tap";
import { call } from "../support/call.ts";
import { accept, invite, join, type Role, startCompany } from "../support/members.ts";
import { type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { owner, admin, auditor, member, suspended, stranger, orgId, strangersOrgId } = await startCompany(service);
const base = "/api/org/members";
const nobody = "00000000-0000-7000-8000-000000000000";

const list = async ({ token }: Person) => (await call(service, "GET", base, { token })).body.data;
const change = ({ token }: Person, userId: string, body: unknown, org = orgId) =>
  call(service, "PATCH", `${base}/${userId}`, { token, body, headers: { "x-coffer-org": org } });
const remove = ({ token }: Person, userId: string, org = orgId) =>
  call(service, "DELETE", `${base}/${userId}`, { token, headers: { "x-coffer-org": org } });
const newMember = async (role: Role, status: "active" | "suspended" = "active"): Promise<Person> => {
  const person = await register(service);
  await join(service, orgId, person, role, status);
  return person;
};
const roleOf = async ({ userId }: Person) => {
  const found = (await list(owner)).find(({ user_id }) => user_id === userId);
  return found === undefined ? "gone" : `${found.role} ${found.status}`;
};

await t.test("a member's role and status change, and omitted fields do not", async (t) => {
  const person = await newMember("member");
  const answer = await change(owner, person.userId, { role: "admin" });
  t.equal(answer.status, 200);
  t.strictSame(
    (await list(owner)).find(({ user_id }) => user_id === person.userId),
    answer.body,
  );
  t.match(answer.body, { user_id: person.userId, email: person.email, role: "admin", status: "active" });
  t.match((await change(owner, person.userId, { status: "suspended" })).body, { role: "admin", status: "suspended" });
  t.match((await change(owner, person.userId, { role: "auditor", status: "active" })).body, {
    role: "auditor",
    status: "active",
  });
  t.equal((await change(owner, person.userId, {})).status, 200);
  const changes = () =>
    observer.records.filter(
      ({ action, target }) => action === "org.member.role.changed" && target.id === person.userId,
    );
  await observer.record("the last change", ({ changes }) => changes?.["previous_status"] === "suspended");
  t.match(
    changes().map(({ org_id, actor, target, changes }) => ({ org_id, actor, target, changes })),
    [
      { org_id: orgId, actor: { id: owner.userId }, target: { type: "user", parent_id: orgId } },
      { changes: { role: "admin", status: "suspended", previous_role: "admin", previous_status: "active" } },
      { changes: { role: "auditor", status: "active", previous_role: "admin", previous_status: "suspended" } },
    ],
  );
  t.equal(changes().length, 3, "nothing changed, nothing recorded");
});

await t.test("malformed fields are 400, a person who is not a member 404", async (t) => {
  for (const body of [{ role: "boss" }, { status: "gone" }, { role: null }, [], "x"]) {
    t.equal((await change(owner, member.userId, body)).status, 400, JSON.stringify(body));
  }
  for (const id of [stranger.userId, nobody, "x"]) {
    for (const answer of [await change(owner, id, { role: "member" }), await remove(owner, id)]) {
      t.equal(answer.status, 404, id);
      t.equal(answer.body.error, "not_found");
    }
  }
  for (const caller of [auditor, member])
    t.equal((await remove(caller, stranger.userId)).status, 403, "not theirs to ask");
  t.equal((await remove(owner, member.userId, strangersOrgId)).status, 403);
  t.equal((await change(owner, member.userId, { role: "member" }, "x")).status, 403);
});

await t.test("no member gives more than its own rights, and an admin changes no owner", async (t) => {
  const secondOwner = await newMember("owner");
  for (const about of ["owner", "admin", "auditor", "member"] as const) {
    const person = about === "owner" ? secondOwner : await newMember(about);
    for (const caller of [auditor, member, suspended]) {
      t.equal((await change(caller, person.userId, { role: "member" })).status, 403);
      t.equal((await remove(caller, person.userId)).status, 403);
    }
    for (const role of ["owner", "admin", "auditor", "member"] as const) {
      const expected = about === "owner" || role === "owner" ? 403 : 200;
      t.equal((await change(admin, person.userId, { role })).status, expected, `an admin, ${about} to ${role}`);
    }
    t.equal((await change(admin, person.userId, { status: "suspended" })).status, about === "owner" ? 403 : 200);
    t.equal((await remove(admin, person.userId)).status, about === "owner" ? 403 : 204, `an admin removes an ${about}`);
  }
  t.equal(await roleOf(secondOwner), "owner active");
  const person = await newMember("member");
  for (const role of ["owner", "admin", "owner"]) t.equal((await change(owner, person.userId, { role })).status, 200);
  t.equal((await remove(owner, person.userId)).status, 204, "an owner removes an owner");
  t.equal((await remove(owner, secondOwner.userId)).status, 204);
  for (const role of ["owner", "admin"])
    t.equal((await change(member, member.userId, { role })).status, 403, "oneself");
  t.equal((await change(admin, admin.userId, { role: "owner" })).status, 403);
  const denial = await observer.record(
    "a denial",
    ({ action, outcome, actor }) =>
      action === "org.member.removed" && outcome === "denied" && actor.id === admin.userId,
  );
  t.match(denial, { org_id: orgId, target: { type: "user", id: secondOwner.userId } });
});

await t.test("every member may leave, and may be invited again", async (t) => {
  for (const role of ["admin", "auditor", "member"] as const) {
    const person = await newMember(role);
    t.equal((await remove(person, person.userId)).status, 204, role);
    t.equal(await roleOf(person), "gone");
  }
  const person = await newMember("member", "suspended");
  t.equal((await remove(person, person.userId)).status, 403, "the suspended have no rights");
  t.equal((await remove(owner, person.userId)).status, 204);
  t.equal((await remove(owner, person.userId)).status, 404, "twice");
  const record = await observer.record(
    "the removal",
    ({ action, target, outcome }) =>
      action === "org.member.removed" && target.id === person.userId && outcome === "success",
  );
  t.match(record, {
    org_id: orgId,
    target: { type: "user", parent_id: orgId },
    changes: { role: "member", folders: 0 },
  });
  const again = await register(service);
  await join(service, orgId, again, "member");
  await call(service, "POST", "/api/orgs", { token: again.token, body: { name: "Own" } });
  t.equal((await remove(again, again.userId)).status, 204);
  const left = await observer.record(
    "the leaving",
    ({ target, reason }) => target.id === again.userId && reason === "left",
  );
  t.equal(left.actor.id, again.userId);
  const { body } = await invite(service, owner, { email: again.email, role: "auditor" });
  t.equal((await accept(service, again, body.token)).status, 200);
  t.equal(await roleOf(again), "auditor active");
});
