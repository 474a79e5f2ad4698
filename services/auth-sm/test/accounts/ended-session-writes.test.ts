import { sendSlowly, until } from "@coffer/testkit";
import pg from "pg";
import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createFolder } from "../support/machines.ts";
import { execute, invite, join, startCompany } from "../support/members.ts";
import { logIn, type Person, register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

// Between being let in and writing a request may wait, for its own body or for others: who is
// logged out meanwhile writes nothing any more.

const service = await startAuthSm(t);
const { owner, member, orgId, strangersOrgId } = await startCompany(service);
const folder = await createFolder(service, owner);
const applicationId = await createApplication(service, owner);

const logOut = async ({ token }: Person): Promise<void> => {
  const { status } = await call(service, "POST", "/api/auth/logout", { token });
  if (status !== 204) throw new Error(`the logout was answered ${status}`);
};
const sharing = { permission: "read", key_version: 1, encrypted_key: "a.jwe.of.a.key" };
const secret = { record_type: "login", encrypted_payload: sealed(), wrapped_dek: sealed(), key_version: 1 };
const token = { name: "token", folders: [] };
const writes = {
  "a one-time token": ["POST", `/api/org/applications/${applicationId}/tokens`, token],
  "a secret": ["POST", `/api/org/folders/${folder}/secrets`, secret],
  "a share": ["PUT", `/api/org/folders/${folder}/members/${member.userId}`, sharing],
  "an invitation": ["POST", "/api/org/invites", { email: "somebody@example.com", role: "member" }],
  "a folder's name": ["PATCH", `/api/org/folders/${folder}`, { name: "Renamed" }],
  "a role": ["PATCH", `/api/org/members/${member.userId}`, { role: "admin" }],
  "an organization": ["POST", "/api/orgs", { name: "Another" }],
} satisfies Record<string, [method: string, path: string, body: object]>;
/** All that such a write would change. */
const written = () =>
  execute(
    service,
    `SELECT (SELECT count(*)::integer FROM auth_sm.access_tokens) AS tokens,
      (SELECT count(*)::integer FROM auth_sm.secrets) AS secrets,
      (SELECT count(*)::integer FROM auth_sm.folder_members) AS grants,
      (SELECT count(*)::integer FROM auth_sm.invites) AS invites,
      (SELECT count(*)::integer FROM auth_sm.orgs) AS orgs,
      (SELECT string_agg(user_id || role, ',' ORDER BY user_id) FROM auth_sm.memberships) AS roles,
      (SELECT string_agg(name, ',' ORDER BY id) FROM auth_sm.folders) AS folders`,
  );

await t.test("a person who is logged out while the body arrives writes nothing", async (t) => {
  const before = await written();
  for (const [what, [method, path, body]] of Object.entries(writes)) {
    const person = await logIn(service, owner);
    const sent = { method, token: person.token, body };
    const answer = await sendSlowly(service.url + path, sent, () => logOut(person));
    t.equal(answer.status, 401, what);
    t.match(JSON.parse(answer.body), { error: "invalid_token" });
  }
  t.strictSame(await written(), before);
});

/** Makes a request wait for what `lock` locks, and logs the person out meanwhile. */
async function whileLocked(lock: string, values: string[], person: Person, request: () => ReturnType<typeof call>) {
  const blocker = new pg.Client({ connectionString: service.postgres.url });
  await blocker.connect();
  try {
    await blocker.query("BEGIN");
    await blocker.query(lock, values);
    const answer = request();
    await until("the request waits", async () => {
      const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      return (await execute(service, text)).length === 1;
    });
    await logOut(person);
    await blocker.query("COMMIT");
    return await answer;
  } finally {
    await blocker.end();
  }
}

const lockedFolder = "SELECT FROM auth_sm.folders WHERE id = $1 FOR UPDATE";
const lockedApplication = "SELECT FROM auth_sm.applications WHERE id = $1 FOR UPDATE";
const lockedOrg = "SELECT FROM auth_sm.orgs WHERE id = $1 FOR UPDATE";
const lockedPerson = "SELECT pg_advisory_xact_lock(hashtextextended('coffer auth-sm person ' || $1, 0))";

await t.test("a person who is logged out while the write waits for another writes nothing", async (t) => {
  const before = await written();
  for (const [what, lock, id] of [
    ["a one-time token", lockedApplication, applicationId],
    ["a one-time token", lockedPerson, owner.userId],
    ["a share", lockedFolder, folder],
    ["a share", lockedPerson, member.userId],
    ["a folder's name", lockedFolder, folder],
    ["an invitation", lockedOrg, orgId],
    ["a role", lockedOrg, orgId],
    ["a role", lockedPerson, member.userId],
  ] as const) {
    const [method, path, body] = writes[what];
    const person = await logIn(service, owner);
    const request = () => call(service, method, path, { token: person.token, body });
    const answer = await whileLocked(lock, [id], person, request);
    t.strictSame([answer.status, answer.body.error], [401, "invalid_token"], `${what}: ${lock}`);
  }
  t.strictSame(await written(), before);
});

await t.test("a person who is logged out while the acceptance of an invitation waits does not join", async (t) => {
  const person = await register(service);
  await join(service, strangersOrgId, person, "member");
  const invited = await invite(service, owner, { email: person.email, role: "member" });
  const before = await written();
  const accept = () =>
    call(service, "POST", "/api/org/invites/accept", { token: person.token, body: { token: invited.body.token } });
  t.equal((await whileLocked(lockedOrg, [orgId], person, accept)).status, 401);
  t.strictSame(await written(), before, "and the invitation is still open");
});

await t.test("a person who is logged out while a secret waits for a rotation writes nothing", async (t) => {
  const before = await written();
  const person = await logIn(service, owner);
  const [method, path, body] = writes["a secret"];
  const blocker = new pg.Client({ connectionString: service.postgres.url });
  await blocker.connect();
  t.teardown(() => blocker.end());
  await blocker.query("BEGIN");
  await blocker.query(lockedFolder, [folder]);
  const answer = call(service, method, path, { token: person.token, body });
  await until("the write has been tried in vain", async () => {
    // The statement that writes secrets; its end is more than Postgres shows.
    const written = "query LIKE '%WITH requested AS MATERIALIZED%folder_key_version%'";
    const text = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND ${written} AND pid <> pg_backend_pid()`;
    return (await execute(service, text)).length > 0;
  });
  await logOut(person);
  t.equal((await answer).status, 401, "before the folder is free");
  await blocker.query("COMMIT");
  t.strictSame(await written(), before);
});
