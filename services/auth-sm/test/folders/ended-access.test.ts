import { membershipOf } from "@coffer/events";
import pg from "pg";
import { until } from "@coffer/testkit";
import { Redis } from "ioredis";
import t from "tap";
import { call } from "../support/call.ts";
import { createFolder } from "../support/machines.ts";
import { execute, join, type Role, share, startCompany } from "../support/members.ts";
import { logIn, type Person, register } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// What ends with a membership, or with its role.

const service = await startAuthSm(t);
const { observer } = service;
const replica = await service.replica();
const { owner, orgId, stranger, strangersOrgId } = await startCompany(service);
const base = "/api/org/members";

const change = (userId: string, body: object, org = orgId) =>
  call(service, "PATCH", `${base}/${userId}`, { token: owner.token, body, headers: { "x-coffer-org": org } });
const remove = ({ token }: Person, userId: string, org = orgId) =>
  call(service, "DELETE", `${base}/${userId}`, { token, headers: { "x-coffer-org": org } });
const newMember = async (role: Role = "member", orgs = [orgId]): Promise<Person> => {
  const person = await register(service);
  for (const org of orgs) await join(service, org, person, role);
  return person;
};
const account = ({ token }: Person) => call(replica, "GET", "/api/account", { token });
const redis = new Redis(service.redis.url);
t.teardown(() => redis.disconnect());
const heard = ({ userId }: Person) => observer.revocations.filter(({ user_id }) => user_id === userId);

const endings = {
  member_removed: (person: Person) => remove(owner, person.userId),
  member_suspended: (person: Person) => change(person.userId, { status: "suspended" }),
};

await t.test("the last organization takes every session with it, on every replica, and says why", async (t) => {
  for (const [reason, end] of Object.entries(endings)) {
    const person = await newMember();
    const elsewhere = await logIn(service, person);
    t.ok((await end(person)).status < 300);
    for (const session of [person, elsewhere]) {
      t.equal((await account(session)).status, 401, reason);
      const refreshed = await call(service, "POST", "/api/auth/refresh", {
        body: { refresh_token: session.refreshToken },
      });
      t.equal(refreshed.body.error, "invalid_token");
      t.ok(await redis.zscore("coffer:revoked-sessions", session.sessionId));
      await until("the news", () => heard(person).length === 2);
      t.ok(heard(person).every((news) => news.reason === reason));
      const record = await observer.record(
        "the end",
        ({ action, target }) => action === "session.revoked" && target.id === session.sessionId,
      );
      t.match(record, { org_id: orgId, action: "session.revoked", reason, actor: { id: owner.userId } });
    }
    t.equal((await account(await logIn(service, person))).status, 200, "the account stays");
  }
});

await t.test("with another active organization, only access to this one ends, and no session does", async (t) => {
  for (const end of Object.values(endings)) {
    const person = await newMember("admin", [orgId, strangersOrgId]);
    const folders = (org: string) =>
      call(replica, "GET", "/api/org/folders", { token: person.token, headers: { "x-coffer-org": org } });
    t.equal((await folders(orgId)).status, 200);
    t.ok((await end(person)).status < 300);
    t.equal((await folders(orgId)).status, 403);
    t.equal((await folders(strangersOrgId)).status, 200);
    const asked = { user_id: person.userId, session_id: person.sessionId, org_id: orgId };
    const { membership } = await observer.bus.request(membershipOf, asked);
    t.notOk(membership?.status === "active", "what other services are told");
    t.strictSame(heard(person), []);
  }
});

await t.test("a suspended membership elsewhere is no other organization", async (t) => {
  const person = await newMember();
  await join(service, strangersOrgId, person, "member", "suspended");
  await remove(owner, person.userId);
  t.equal((await account(person)).status, 401);
  const record = await observer.record("the end", ({ target }) => target.id === person.sessionId);
  t.equal(record.org_id, orgId);
  const others = observer.records.filter(({ org_id, actor }) => org_id === strangersOrgId && actor.id === owner.userId);
  t.strictSame(others, [], "another organization hears nothing of this one's owner");
});

await t.test("two organizations that let go of one person at once end the sessions", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const second = (await call(service, "POST", "/api/orgs", { token: owner.token, body: { name: "Second" } })).body.id;
    const person = await newMember("member", [orgId, second]);
    const answers = await Promise.all([remove(owner, person.userId), remove(owner, person.userId, second)]);
    t.strictSame(
      answers.map(({ status }) => status),
      [204, 204],
    );
    t.equal((await account(person)).status, 401);
  }
});

await t.test("a person who leaves their only organization is logged out too", async (t) => {
  const person = await newMember();
  t.equal((await remove(person, person.userId)).status, 204);
  t.equal((await account(person)).status, 401);
});

await t.test(
  "a removed member's grants are deleted, in this organization only, and do not return with the person",
  async (t) => {
    const person = await newMember("member", [orgId, strangersOrgId]);
    const folders = [await createFolder(service, owner), await createFolder(service, owner)];
    const foreign = await createFolder(service, stranger);
    for (const id of [...folders, foreign]) await share(service, id, person, "write");
    t.equal((await remove(owner, person.userId)).status, 204);
    for (const id of folders) {
      const gone = await observer.record(
        "a grant's end",
        ({ action, target }) => action === "folder.member.removed" && target.parent_id === id,
      );
      t.match(gone, { org_id: orgId, target: { type: "user", id: person.userId }, reason: "member_removed" });
    }
    const record = await observer.record(
      "the removal",
      ({ action, target }) => action === "org.member.removed" && target.id === person.userId,
    );
    t.equal(record.changes?.["folders"], 2);
    const rows = await execute(service, "SELECT folder_id FROM auth_sm.folder_members WHERE user_id = $1", [
      person.userId,
    ]);
    t.match(rows, [{ folder_id: foreign }]);
    await join(service, orgId, person, "member");
    const { body } = await call(service, "GET", "/api/org/folders", {
      token: person.token,
      headers: { "x-coffer-org": orgId },
    });
    t.strictSame(body.data, []);
  },
);

await t.test("what a member does now ends first; what comes after a removal waits, and is refused", async (t) => {
  const person = await newMember("admin");
  const folder = await createFolder(service, owner);
  const blocker = new pg.Client({ connectionString: service.postgres.url });
  await blocker.connect();
  t.teardown(() => blocker.end());
  const waiting = async (count: number) => {
    const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return (await execute(service, text)).length === count;
  };
  const rename = (name: string) =>
    call(service, "PATCH", `/api/org/folders/${folder}`, { token: person.token, body: { name } });
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM auth_sm.folders WHERE id = $1 FOR UPDATE", [folder]);
  const before = rename("before");
  await until("the first waits for the folder", () => waiting(1));
  const removal = remove(owner, person.userId);
  await until("the removal waits for the first", () => waiting(2));
  const after = rename("after");
  await until("the second waits for the removal", () => waiting(3));
  await blocker.query("COMMIT");
  t.strictSame(
    (await Promise.all([before, removal, after])).map(({ status }) => status),
    [200, 204, 404],
  );
});
