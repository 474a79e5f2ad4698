import { holdOutbox } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { ask, createFolder, createMachine, createSecret, createToken, secretBody } from "../support/machines.ts";
import { execute, invite, join, share, startCompany } from "../support/members.ts";
import { logIn, type Person, register, sealed } from "../support/people.ts";
import { rotationOf } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// Whatever a write has waited for at last, its commit comes after one more look at the session:
// here each waits in its own last statement, the record of what it has done.

const service = await startAuthSm(t);
const { owner, admin, member, orgId, stranger } = await startCompany(service);
const folder = await createFolder(service, owner);
const machine = await createMachine(service, owner, [{ folder_id: folder, permission: "read" }]);
const { applicationId, clientId } = machine;
await share(service, folder, member, "read");
const memberElsewhere = await logIn(service, member);
const { id: tokenId } = await createToken(service, owner, [], { applicationId });
const invited = await invite(service, owner, { email: "somebody@example.com", role: "member" });
const [folders, application] = ["/api/org/folders", `/api/org/applications/${applicationId}`];
const client = `${application}/clients/${clientId}`;

const writes: Record<string, [method: string, path: string, body?: object]> = {
  "an organization": ["POST", "/api/orgs", { name: "Another" }],
  "an invitation": ["POST", "/api/org/invites", { email: "another@example.com", role: "member" }],
  "an invitation withdrawn": ["DELETE", `/api/org/invites/${invited.body.id}`],
  "a role": ["PATCH", `/api/org/members/${member.userId}`, { role: "auditor" }],
  "a removal": ["DELETE", `/api/org/members/${member.userId}`],
  "a member logged out": ["DELETE", `/api/org/members/${member.userId}/sessions`],
  "a member's session": ["DELETE", `/api/org/members/${member.userId}/sessions/${memberElsewhere.sessionId}`],
  "a folder": ["POST", folders, { name: "New", encrypted_key: sealed() }],
  "a folder's name": ["PATCH", `${folders}/${folder}`, { name: "Renamed" }],
  "a folder deleted": ["DELETE", `${folders}/${folder}?force=true`],
  "a share": [
    "PUT",
    `${folders}/${folder}/members/${admin.userId}`,
    { permission: "read", encrypted_key: "a.jwe.of.a.key" },
  ],
  "a share withdrawn": ["DELETE", `${folders}/${folder}/members/${member.userId}`],
  "a rotation": ["POST", `${folders}/${folder}/rotate`, await rotationOf(service, owner, folder)],
  "an application": ["POST", "/api/org/applications", { name: "New" }],
  "an application's name": ["PATCH", application, { name: "Renamed" }],
  "an application deleted": ["DELETE", application],
  "a one-time token": ["POST", `${application}/tokens`, { name: "another", folders: [] }],
  "a one-time token revoked": ["DELETE", `${application}/tokens/${tokenId}`],
  "a client": ["DELETE", client],
  "a client's grant": ["PUT", `${client}/folders/${folder}`, { permission: "write", encrypted_key: "a.jwe.of.a.key" }],
  "a client's grant withdrawn": ["DELETE", `${client}/folders/${folder}`],
};

/** All that they would change. */
const tables =
  "orgs memberships invites folders folder_members applications access_tokens clients client_folders outbox";
const written = () =>
  Promise.all(
    tables.split(" ").map((table) => execute(service, `SELECT * FROM auth_sm.${table} t ORDER BY t::text COLLATE "C"`)),
  );

/** Ends a session as another replica would, or takes that back: a login for each write would take long. */
const setEnded = ({ sessionId }: Person, ended: boolean) =>
  execute(
    service,
    "UPDATE auth_sm.sessions SET revoked_at = CASE WHEN $2 THEN now() END, revoked_reason = CASE WHEN $2 THEN 'logged_out' END WHERE id = $1",
    [sessionId, ended],
  );
const person = await logIn(service, owner);

const { drained, whileRecording, waitedInVain } = await holdOutbox(t, { url: service.postgres.url, schema: "auth_sm" });
await drained();

for (const [what, [method, path, body]] of Object.entries(writes)) {
  await t.test(`who is logged out while ${what} is about to be committed has not done it`, async (t) => {
    await setEnded(person, false);
    await drained();
    const before = await written();
    const request = () => call(service, method, path, { token: person.token, ...(body && { body }) });
    const answer = await whileRecording(request, () => setEnded(person, true));
    t.strictSame([answer.status, answer.body.error], [401, "invalid_token"]);
    t.strictSame(await written(), before);
  });
}

await t.test("a write of a secret checks its caller again after a quarter of a second", async (t) => {
  const writer = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const uid = await createSecret(service, writer, folder);
  const content = { encrypted_payload: sealed(), wrapped_dek: sealed() };
  const asked: [string, string, object?][] = [
    ["POST", "/secrets", secretBody(folder)],
    ["PUT", `/secrets/${uid}`, content],
    ["DELETE", `/secrets/${uid}`],
  ];
  const revoked = await createMachine(service, owner, [{ folder_id: folder, permission: "write" }]);
  const setRevoked = (at: "now()" | "NULL") =>
    execute(service, `UPDATE auth_sm.clients SET revoked_at = ${at} WHERE id = $1`, [revoked.clientId]);
  const stored = () => execute(service, "SELECT * FROM auth_sm.secrets");
  const before = await stored();
  for (const [method, path, body] of asked) {
    const byMachine = () => ask(service, revoked, method, path, body && { body });
    const answer = await whileRecording(byMachine, async () => {
      await setRevoked("now()");
      await waitedInVain();
    });
    t.strictSame([answer.status, answer.body.error], [401, "invalid_token"], `${method} by a machine`);
    await setRevoked("NULL");
    await setEnded(person, false);
    const { token } = person;
    const byPerson = () => call(service, method, `${folders}/${folder}${path}`, { token, ...(body && { body }) });
    const refused = await whileRecording(byPerson, async () => {
      await setEnded(person, true);
      await waitedInVain();
    });
    t.strictSame([refused.status, refused.body.error], [401, "invalid_token"], `${method} by a person`);
  }
  t.strictSame(await stored(), before);
  const update = () => ask(service, writer, "PUT", `/secrets/${uid}`, { body: content });
  t.match(await whileRecording(update, waitedInVain), { status: 200, body: { uid } }, "and is let go on");
});

await t.test("a person who is logged out while an invitation is accepted does not join", async (t) => {
  const invitee = await register(service);
  const { body } = await invite(service, stranger, { email: invitee.email, role: "member" });
  const accept = () =>
    call(service, "POST", "/api/org/invites/accept", { token: invitee.token, body: { token: body.token } });
  t.equal((await whileRecording(accept, () => setEnded(invitee, true))).status, 401);
  const found = await execute(service, "SELECT FROM auth_sm.memberships WHERE user_id = $1", [invitee.userId]);
  t.equal(found.length, 0);
});

await t.test("a session that the write itself ends does not block the write", async (t) => {
  const [leaving, suspended] = [await register(service), await register(service)];
  await join(service, orgId, leaving, "member");
  await join(service, orgId, suspended, "admin");
  const leave = await call(service, "DELETE", `/api/org/members/${leaving.userId}`, { token: leaving.token });
  t.equal(leave.status, 204);
  const path = `/api/org/members/${suspended.userId}`;
  const suspend = await call(service, "PATCH", path, { token: suspended.token, body: { status: "suspended" } });
  t.equal(suspend.status, 200);
  for (const { token } of [leaving, suspended]) {
    t.equal((await call(service, "GET", "/api/account", { token })).status, 401, "it has ended");
  }
});
