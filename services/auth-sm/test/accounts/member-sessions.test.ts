import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { join, startCompany } from "../support/members.ts";
import { logIn, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);
const pathOf = (userId: string): string => `/api/org/members/${userId}/sessions`;
const list = ({ token }: Person, userId: string) => call(service, "GET", pathOf(userId), { token });
const end = ({ token }: Person, userId: string, sid = "") =>
  call(service, "DELETE", `${pathOf(userId)}${sid === "" ? "" : `/${sid}`}`, { token });
const lasts = async ({ token }: Person) => (await call(service, "GET", "/api/account", { token })).status === 200;
const newMember = async (role: "member" | "owner" = "member"): Promise<Person> => {
  const person = await register(service);
  await join(service, orgId, person, role);
  return person;
};

await t.test("an owner or admin sees where a member is logged in", async (t) => {
  const person = await newMember();
  const second = await logIn(service, person);
  for (const caller of [owner, admin]) {
    const { status, body } = await list(caller, person.userId);
    t.equal(status, 200);
    t.strictSame(body.data.map(({ id }) => id).sort(), [person.sessionId, second.sessionId].sort());
    t.strictSame(Object.keys(body.data[0] ?? {}).sort(), [
      "created_at",
      "current",
      "device",
      "id",
      "ip",
      "last_used_at",
    ]);
    t.match(body.data[0], {
      device: { id: "device-1", name: "a laptop", type: "cli" },
      ip: "127.0.0.1",
      current: false,
    });
  }
  t.match((await list(owner, owner.userId)).body.data, [{ id: owner.sessionId, current: true }]);
  t.equal((await list(admin, owner.userId)).status, 200);
  for (const caller of [auditor, member, suspended]) t.equal((await list(caller, person.userId)).status, 403);
  t.equal((await list(member, member.userId)).status, 403, "one's own are below /api/auth");
  for (const id of [stranger.userId, "x"]) t.equal((await list(owner, id)).status, 404);
  t.equal((await list(stranger, person.userId)).status, 404);
});

await t.test("one session is ended, and the others go on", async (t) => {
  const person = await newMember();
  const second = await logIn(service, person);
  for (const caller of [auditor, member, suspended])
    t.equal((await end(caller, person.userId, second.sessionId)).status, 403);
  t.equal((await end(stranger, person.userId, second.sessionId)).status, 404);
  t.ok(await lasts(second));
  t.equal((await end(admin, person.userId, second.sessionId)).status, 204);
  t.notOk(await lasts(second));
  t.ok(await lasts(person));
  const news = await until("the push", () =>
    observer.revocations.find(({ session_id }) => session_id === second.sessionId),
  );
  t.equal(news.reason, "admin_revoked");
  const record = await observer.record(
    "the end",
    ({ action, target, outcome }) =>
      action === "session.revoked" && target.id === second.sessionId && outcome === "success",
  );
  t.match(record, {
    org_id: orgId,
    action: "session.revoked",
    reason: "admin_revoked",
    actor: { id: admin.userId },
    target: { type: "session", parent_id: person.userId },
  });
  for (const sid of [second.sessionId, owner.sessionId, stranger.sessionId, "x"]) {
    const answer = await end(admin, person.userId, sid);
    t.equal(answer.status, 404, "it has ended, or is not this person's");
    t.equal(answer.body.error, "not_found");
  }
  t.ok(await lasts(owner));
});

await t.test("all sessions of a member are ended", async (t) => {
  const person = await newMember();
  const others = [await logIn(service, person), await logIn(service, person)];
  t.equal((await end(admin, person.userId)).status, 204);
  for (const session of [person, ...others]) t.notOk(await lasts(session));
  await until("the pushes", () => observer.revocations.filter(({ user_id }) => user_id === person.userId).length === 3);
  t.equal((await end(admin, person.userId)).status, 204, "again: no effect");
  t.ok(await lasts(await logIn(service, person)), "the person may log in again");
});

await t.test("an owner's sessions are ended by an owner only", async (t) => {
  const person = await newMember("owner");
  t.equal((await end(admin, person.userId)).status, 403);
  t.equal((await end(admin, person.userId, person.sessionId)).status, 403);
  t.ok(await lasts(person));
  t.equal((await end(owner, person.userId, person.sessionId)).status, 204);
  t.notOk(await lasts(person));
});

await t.test("a suspended member's sessions elsewhere are ended too", async (t) => {
  t.equal((await end(admin, suspended.userId)).status, 204);
  t.notOk(await lasts(suspended));
});
