import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createFolder } from "../support/machines.ts";
import { accept, execute, invite, join, orgOf, startCompany } from "../support/members.ts";
import { newEmail, type Person, register, sealed } from "../support/people.ts";
import { jwe, rotate } from "../support/rotation.ts";
import { startAuthSm } from "../support/service.ts";

// One person in three organizations: the owner of the oldest, an auditor and a member of the others.

const service = await startAuthSm(t);
const { owner, orgId: audited } = await startCompany(service);
const other = await register(service, { orgName: "Third" });
const third = await orgOf(service, other);
const person = await register(service, { orgName: "Own" });
const own = await orgOf(service, person);
await join(service, audited, person, "auditor");
await join(service, third, person, "member");

const ask = (method: string, path: string, org: string | undefined, body?: unknown, { token }: Person = person) =>
  call(service, method, path, { token, body, headers: org === undefined ? {} : { "x-coffer-org": org } });
const colleague = await register(service);
await join(service, own, colleague, "member");
const [folder, application] = [await createFolder(service, person), await createApplication(service, person)];

/** What an owner may do with what is in the organization, in an order in which each is possible. */
const deeds: [string, string, unknown?][] = [
  ["GET", "/api/org/invites"],
  ["POST", "/api/org/invites", { email: newEmail(), role: "member" }],
  ["PATCH", `/api/org/members/${colleague.userId}`, { role: "admin" }],
  ["GET", `/api/org/members/${colleague.userId}/sessions`],
  ["PUT", `/api/org/folders/${folder}/members/${colleague.userId}`, { permission: "read", encrypted_key: jwe }],
  ["GET", `/api/org/folders/${folder}/members`],
  ["DELETE", `/api/org/folders/${folder}/members/${colleague.userId}`],
  ["PATCH", `/api/org/folders/${folder}`, { name: "renamed" }],
  ["POST", "/api/org/folders", { name: "another", encrypted_key: sealed() }],
  ["PATCH", `/api/org/applications/${application}`, { name: "renamed" }],
  ["POST", `/api/org/applications/${application}/tokens`, { name: "a token", folders: [] }],
  ["DELETE", `/api/org/members/${colleague.userId}/sessions`],
  ["DELETE", `/api/org/members/${colleague.userId}`],
];

await t.test("the organization that is named decides what the caller may do and what there is", async (t) => {
  for (const [method, path, body] of deeds) {
    for (const org of [audited, third]) {
      const answer = await ask(method, path, org, body);
      const seen = org === audited && (path === "/api/org/invites" ? method === "GET" : false);
      if (seen) t.equal(answer.status, 200, "an auditor sees lists");
      else t.ok([403, 404].includes(answer.status), `${method} ${path}: ${answer.status}`);
    }
  }
  const rows = await execute(service, "SELECT role FROM auth_sm.memberships WHERE user_id = $1", [colleague.userId]);
  t.strictSame(rows, [{ role: "member" }], "nothing was done");
});

await t.test("without a name it is the oldest membership, and naming that is the same", async (t) => {
  for (const [index, [method, path, body]] of deeds.entries()) {
    const answer = await ask(method, path, index % 2 === 0 ? undefined : own, body);
    t.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
  }
});

await t.test("a key is rotated in its own organization only", async (t) => {
  const body = {
    key_version: 1,
    encrypted_keys: { users: [{ user_id: person.userId, encrypted_key: jwe }], clients: [] },
    secrets: [],
  };
  for (const org of [audited, third]) {
    const status = (await ask("POST", `/api/org/folders/${folder}/rotate`, org, body)).status;
    t.equal(status, org === audited ? 403 : 404);
  }
  t.equal((await rotate(service, person, folder, body)).status, 200);
});

await t.test("accepting an invitation requires no organization", async (t) => {
  const email = newEmail();
  const invited = await register(service, { email });
  for (const header of [{ "x-coffer-org": own }, { "x-coffer-org": "x" }, {}] as Record<string, string>[]) {
    const { body } = await invite(service, owner, { email, role: "member" });
    t.equal((await accept(service, invited, body.token, header)).status, 200);
    await execute(service, "DELETE FROM auth_sm.memberships WHERE user_id = $1", [invited.userId]);
  }
});

await t.test("after leaving the oldest organization the next one is the default", async (t) => {
  const second = await register(service);
  await join(service, own, second, "owner");
  t.equal((await ask("DELETE", `/api/org/members/${person.userId}`, undefined)).status, 204);
  t.equal((await ask("GET", "/api/org", undefined)).body.id, audited);
  t.equal((await ask("GET", "/api/org", own)).status, 403);
  t.equal((await ask("GET", "/api/org", own, undefined, second)).status, 200);
});
