import pg from "pg";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { createApplication, createFolder, createToken, newKeyPair } from "../support/machines.ts";
import { execute, join, type Role, share as shareDirectly, startCompany } from "../support/members.ts";
import { type Person, register, sealed } from "../support/people.ts";
import { startAuthSm } from "../support/service.ts";

const service = await startAuthSm(t);
const { observer } = service;
const { owner, admin, auditor, member, suspended, stranger, orgId } = await startCompany(service);

/** In the form of a compact JWE; the server looks no further. */
const jwe = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn";
const base = "/api/org/folders";
const share = ({ token }: Person, folderId: string, userId: string, body: object = {}) =>
  call(service, "PUT", `${base}/${folderId}/members/${userId}`, {
    token,
    body: { permission: "read", encrypted_key: jwe, ...body },
  });
const unshare = ({ token }: Person, folderId: string, userId: string) =>
  call(service, "DELETE", `${base}/${folderId}/members/${userId}`, { token });
const holders = async (folderId: string) =>
  (await call(service, "GET", `${base}/${folderId}/members`, { token: owner.token })).body.data.map(
    ({ id, permission }) => `${id} ${permission ?? ""}`,
  );
const seen = async ({ token }: Person, folderId: string) =>
  (await call(service, "GET", base, { token })).body.data.find(({ id }) => id === folderId);
const newMember = async (role: Role = "member"): Promise<Person> => {
  const person = await register(service);
  await join(service, orgId, person, role);
  return person;
};

await t.test("a folder is shared with its key, the permission changed, and the grant revoked", async (t) => {
  const id = await createFolder(service, owner);
  const answer = await share(owner, id, member.userId, { key_version: 1 });
  t.equal(answer.status, 200);
  t.strictSame(Object.keys(answer.body).sort(), ["added_at", "key_version", "permission", "user_id"]);
  t.match(answer.body, { user_id: member.userId, permission: "read", key_version: 1, added_at: /\.\d{6}Z$/ });
  t.match(await seen(member, id), { permission: "read", encrypted_key: jwe, encrypted_key_alg: "jwe", key_version: 1 });
  const changed = await share(owner, id, member.userId, { permission: "write", encrypted_key: `${jwe}AA` });
  t.match(changed.body, { permission: "write", added_at: answer.body.added_at });
  t.match(await seen(member, id), { permission: "write", encrypted_key: `${jwe}AA` });
  t.strictSame((await holders(id)).sort(), [`${owner.userId} manage`, `${member.userId} write`].sort());
  t.equal((await unshare(owner, id, member.userId)).status, 204);
  t.equal(await seen(member, id), undefined);
  const twice = await unshare(owner, id, member.userId);
  t.equal(twice.status, 404);
  const records = () => observer.records.filter(({ target }) => target.parent_id === id && target.type === "user");
  await until("the records", () => records().length === 4);
  t.match(records(), [
    {
      org_id: orgId,
      action: "folder.member.added",
      target: { id: member.userId },
      changes: { permission: "read", key_version: 1 },
    },
    { action: "folder.member.added", changes: { permission: "write", previous_permission: "read" } },
    { action: "folder.member.removed", outcome: "success", changes: { permission: "write" } },
    { action: "folder.member.removed", outcome: "failure", reason: "not_found" },
  ]);
});

await t.test("sharing needs manage on the folder, for every role", async (t) => {
  const id = await createFolder(service, owner);
  const target = await newMember();
  for (const person of [admin, auditor, member, suspended]) {
    const answer = await share(person, id, target.userId);
    t.equal(answer.status, 403);
    t.equal(answer.body.error, "access_denied");
  }
  for (const permission of ["read", "write"] as const) {
    await shareDirectly(service, id, member, permission);
    t.equal((await share(member, id, target.userId)).status, 403, permission);
    t.equal((await share(member, id, member.userId, { permission: "manage" })).status, 403, "for oneself");
  }
  await shareDirectly(service, id, member, "manage");
  for (const permission of ["read", "write", "manage"])
    t.equal((await share(member, id, target.userId, { permission })).status, 200);
  await shareDirectly(service, id, auditor, "manage");
  t.equal((await share(auditor, id, target.userId)).status, 403, "an auditor");
  t.equal((await share(stranger, id, target.userId)).status, 404);
});

await t.test("only a member who can use the key gets it", async (t) => {
  const id = await createFolder(service, owner);
  for (const userId of [stranger.userId, "00000000-0000-7000-8000-000000000000", "x"]) {
    const answer = await share(owner, id, userId);
    t.equal(answer.status, 404);
    t.equal(answer.body.error, "not_found");
  }
  for (const person of [suspended, auditor]) t.equal((await share(owner, id, person.userId)).status, 409);
  t.strictSame(await holders(id), [`${owner.userId} manage`]);
  t.equal((await share(owner, await createFolder(service, stranger), member.userId)).status, 404);
  t.equal((await share(owner, "x", member.userId)).status, 404);
});

await t.test("a suspended member or auditor holds no key until that changes back", async (t) => {
  const id = await createFolder(service, owner);
  const person = await newMember();
  await share(owner, id, person.userId);
  for (const [role, status] of [
    ["member", "suspended"],
    ["auditor", "active"],
  ] as const) {
    await join(service, orgId, person, role, status);
    t.strictSame(await holders(id), [`${owner.userId} manage`], `${role} ${status}`);
  }
  await join(service, orgId, person, "admin");
  t.equal((await holders(id)).length, 2);
});

await t.test("malformed, too large or wrongly sealed keys change nothing", async (t) => {
  const id = await createFolder(service, owner);
  const wrong = [
    { permission: "own" },
    { permission: undefined },
    { encrypted_key: undefined },
    { encrypted_key: sealed() },
    { key_version: 0 },
  ];
  for (const body of wrong) t.equal((await share(owner, id, member.userId, body)).status, 400, JSON.stringify(body));
  t.equal((await share(owner, id, member.userId, { encrypted_key: `${jwe}${"A".repeat(4 * 1024)}` })).status, 413);
  const stale = await share(owner, id, member.userId, { key_version: 2 });
  t.equal(stale.status, 409);
  t.equal(stale.body.error, "conflict");
  t.strictSame(await holders(id), [`${owner.userId} manage`]);
  t.equal((await share(owner, id, member.userId, { encrypted_key: jwe.padEnd(4 * 1024, "A") })).status, 200);
});

await t.test("managers of the organization or the folder revoke a grant", async (t) => {
  const id = await createFolder(service, owner);
  const target = await newMember();
  const give = () => share(owner, id, target.userId);
  await give();
  await shareDirectly(service, id, member, "write");
  for (const person of [auditor, member, suspended]) t.equal((await unshare(person, id, target.userId)).status, 403);
  t.equal((await unshare(stranger, id, target.userId)).status, 404);
  t.equal((await unshare(admin, id, target.userId)).status, 204, "an admin, without a grant");
  await give();
  await shareDirectly(service, id, member, "manage");
  t.equal((await unshare(member, id, target.userId)).status, 204);
});

await t.test("the last manager stays, and a manager who cannot act does not count", async (t) => {
  const id = await createFolder(service, owner);
  const second = await newMember();
  for (const person of [suspended, auditor]) await shareDirectly(service, id, person, "manage");
  for (const answer of [
    await unshare(owner, id, owner.userId),
    await unshare(admin, id, owner.userId),
    await share(owner, id, owner.userId, { permission: "write" }),
  ]) {
    t.equal(answer.status, 409);
    t.equal(answer.body.error, "conflict");
  }
  t.equal((await share(owner, id, owner.userId, { permission: "manage" })).status, 200, "the same again");
  for (const person of [suspended, auditor]) t.equal((await unshare(owner, id, person.userId)).status, 204);
  await share(owner, id, second.userId, { permission: "manage" });
  t.equal((await share(owner, id, owner.userId, { permission: "write" })).status, 200);
  t.equal((await unshare(second, id, second.userId)).status, 409);
  t.equal((await unshare(second, id, owner.userId)).status, 204);
});

await t.test("two managers who demote each other, or give up their own grant, at once: one remains", async (t) => {
  const second = await newMember();
  const acts = {
    "take the other's": (by: Person, id: string, other: Person) => unshare(by, id, other.userId),
    "demote the other": (by: Person, id: string, other: Person) => share(by, id, other.userId),
    "give up": (by: Person, id: string) => unshare(by, id, by.userId),
    "step down": (by: Person, id: string) => share(by, id, by.userId),
  };
  for (const [name, act] of Object.entries(acts)) {
    for (let round = 0; round < 5; round += 1) {
      const id = await createFolder(service, owner);
      await share(owner, id, second.userId, { permission: "manage" });
      const answers = await Promise.all([act(owner, id, second), act(second, id, owner)]);
      t.equal(answers.filter(({ status }) => status < 300).length, 1, name);
      t.equal((await holders(id)).filter((holder) => holder.endsWith(" manage")).length, 1);
    }
  }
});

await t.test("the grants of a folder without a manager can still be removed", async (t) => {
  const person = await newMember("admin");
  const id = await createFolder(service, person);
  await join(service, orgId, person, "admin", "suspended");
  t.equal((await unshare(admin, id, person.userId)).status, 204);
});

await t.test("a member who loses manage loses the unused tokens that name the folder", async (t) => {
  const [id, other] = [await createFolder(service, owner), await createFolder(service, owner)];
  const applicationId = await createApplication(service, owner);
  const person = await newMember("admin");
  const tokenFor = (folder_id: string) =>
    createToken(service, person, [{ folder_id, permission: "read" }], { applicationId });
  const bootstrap = async ({ token }: { token: string }) =>
    (await call(service, "POST", "/api/sm/v1/bootstrap", { body: { token, public_key: newKeyPair().spki } })).status;
  for (const end of [() => unshare(owner, id, person.userId), () => share(owner, id, person.userId)]) {
    for (const folder of [id, other]) await share(owner, folder, person.userId, { permission: "manage" });
    const tokens = [await tokenFor(id), await tokenFor(other)];
    t.ok((await end()).status < 300);
    t.strictSame(await Promise.all(tokens.map(bootstrap)), [401, 200]);
  }
});

await t.test("a caller who loses manage while the request waits is refused", async (t) => {
  const id = await createFolder(service, owner);
  await share(owner, id, member.userId, { permission: "manage" });
  const target = await newMember();
  const blocker = new pg.Client({ connectionString: service.postgres.url });
  await blocker.connect();
  t.teardown(() => blocker.end());
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM auth_sm.folders WHERE id = $1 FOR UPDATE", [id]);
  await blocker.query("DELETE FROM auth_sm.folder_members WHERE folder_id = $1 AND user_id = $2", [id, member.userId]);
  const answer = share(member, id, target.userId);
  await until("it waits", async () => {
    const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return (await execute(service, text)).length > 0;
  });
  await blocker.query("COMMIT");
  t.equal((await answer).status, 403);
});
