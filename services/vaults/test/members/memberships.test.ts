import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { newCompany } from "../support/company.ts";
import { call } from "../support/call.ts";
import { startVaults } from "../support/service.ts";
import { jwe, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners, nats } = service;

const company = () => newCompany(service);
const content = { type: "login", encrypted_data: sealed() };

await t.test("a suspended member sees nothing of the organization until the suspension ends", async (t) => {
  const { orgId, member, vault, record, path } = await company();
  const personal = await newVault(service, member, { type: "personal" });
  await people.place(member, { orgId, role: "member", status: "suspended" });
  for (const at of [path, `${path}/records`, `${path}/records/${record.id}`, `/api/vaults/${personal.id}`])
    t.match(await call(service, member, "GET", at), { status: 403, body: { error: "access_denied" } }, at);
  t.equal((await call(service, member, "POST", `${path}/records`, { body: content })).status, 403);
  t.same((await call(service, member, "GET", "/api/vaults")).body.data, []);
  await listeners.vaultEvent("gone", ({ action, vault_id, user_ids }) => {
    return action === "vault_deleted" && vault_id === vault.id && user_ids?.[0] === member.userId;
  });
  await people.place(member, { orgId, role: "member" });
  t.equal((await call(service, member, "GET", `${path}/records/${record.id}`)).status, 200);
  t.equal((await call(service, member, "POST", `${path}/records`, { body: content })).status, 201);
  t.equal((await call(service, member, "GET", "/api/vaults")).body.data.length, 2);
});

await t.test("a member who becomes an auditor reads no ciphertext", async (t) => {
  const { orgId, member, record, path } = await company();
  await people.place(member, { orgId, role: "auditor" });
  for (const at of [path, `${path}/members`, `${path}/records`, `${path}/records/${record.id}`])
    t.equal((await call(service, member, "GET", at)).status, 403, at);
  await people.place(member, { orgId, role: "admin" });
  t.equal((await call(service, member, "GET", `${path}/records/${record.id}`)).status, 200);
});

await t.test("a removed member leaves the vaults of this organization only", async (t) => {
  const { orgId, owner, member, record, path } = await company();
  const elsewhere = randomUUID();
  await people.place(member, { orgId: elsewhere, role: "member" });
  const other = await newVault(service, member, {}, { "x-coffer-org": elsewhere });
  await people.remove(member, orgId);
  for (const at of [path, `${path}/records`, `${path}/records/${record.id}`])
    t.match(await call(service, member, "GET", at), { status: 404, body: { error: "not_found" } }, at);
  t.equal((await call(service, member, "PUT", `${path}/records/${record.id}`, { body: content })).status, 404);
  t.same(
    (await call(service, member, "GET", "/api/vaults")).body.data.map(({ id }) => id),
    [other.id],
  );
  const members = await call(service, owner, "GET", `${path}/members`);
  t.same(
    members.body.data.map(({ user_id }) => user_id),
    [owner.userId],
  );
  await people.place(member, { orgId, role: "member" });
  t.equal((await call(service, member, "GET", path)).status, 403, "back, but the vault has to be shared again");
});

for (const way of ["one batch", "a comparison before the word of it"]) {
  await t.test(`a member who joins again before vaults receives the removal leaves the vaults: ${way}`, async (t) => {
    const { orgId, owner, member, vault, path } = await company();
    const stranger = { permission: "read", encrypted_key: jwe };
    const compare = async () =>
      t.equal((await call(service, owner, "PUT", `${path}/members/${randomUUID()}`, { body: stranger })).status, 404);
    const removed = await people.remove(member, orgId, { publish: false });
    const back = await people.place(member, { orgId, role: "member" }, { publish: false });
    if (way === "one batch") await people.publish(removed, back);
    else await compare();
    t.equal((await call(service, member, "GET", path)).status, 403, "until the vault is shared again");
    await listeners.record("the removal", ({ action, target }) => {
      return action === "vault.member.removed" && target.id === member.userId && target.parent_id === vault.id;
    });
    await share(service, owner, vault.id, member);
    t.equal(await people.publish(removed, back), 0);
    await people.place(member, { orgId, role: "admin" }, { publish: false });
    await compare();
    t.equal((await call(service, member, "GET", path)).status, 200, "a repeated event does not remove the member");
  });
}

await t.test("an older version changes nothing, in any order", async (t) => {
  const { orgId, member, path } = await company();
  const active = await people.place(member, { orgId, role: "member" }, { publish: false });
  const suspended = await people.place(member, { orgId, role: "member", status: "suspended" }, { publish: false });
  t.equal(await people.publish(suspended), 1);
  t.equal(await people.publish(active), 0);
  t.equal(await people.publish(suspended), 0);
  t.equal((await call(service, member, "GET", path)).status, 403);
  const back = await people.place(member, { orgId, role: "member" }, { publish: false });
  t.equal(await people.publish(active, back, suspended), 1, "the newest of several");
  t.equal((await call(service, member, "GET", path)).status, 200);
  const removed = await people.remove(member, orgId);
  t.equal(await people.publish(back), 0, "an older version after a removal");
  t.equal(await people.publish(removed), 0);
  t.equal((await call(service, member, "GET", path)).status, 404);
});

await t.test("an organization unknown to vaults is requested from auth-sm", async (t) => {
  const orgId = randomUUID();
  const person = await people.add();
  const requested = await people.place(person, { orgId, role: "owner" }, { publish: false });
  const vault = await newVault(service, person);
  t.equal(vault.org_id, orgId);
  t.equal((await call(service, person, "GET", `/api/vaults/${vault.id}`)).status, 200);
  const second = await people.add();
  await people.place(second, { orgId, role: "auditor" }, { publish: false });
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  const headers = { "x-coffer-org": orgId };
  t.equal((await call(service, second, "POST", "/api/vaults", { body, headers })).status, 403);
  t.equal(await people.publish(requested), 1, "a requested membership has no version and is replaced");
});

await t.test("a returned member creates a vault before vaults receives the return", async (t) => {
  const { orgId, member } = await company();
  await people.remove(member, orgId);
  await people.place(member, { orgId, role: "member" }, { publish: false });
  const vault = await newVault(service, member, {}, { "x-coffer-org": orgId });
  t.equal((await call(service, member, "GET", `/api/vaults/${vault.id}`)).status, 200);
});

await t.test("a membership without a version is not suspended by a reconciliation", async (t) => {
  const orgId = randomUUID();
  const { owner, path } = await company();
  const person = await people.add();
  const requested = await people.place(person, { orgId, role: "owner" }, { publish: false });
  const vault = await newVault(service, person);
  // As auth-sm answers after it has read the pages, just before the membership began.
  people.hide(requested);
  const stranger = { permission: "read", encrypted_key: jwe };
  const pages = people.pagesRequested();
  t.equal((await call(service, owner, "PUT", `${path}/members/${randomUUID()}`, { body: stranger })).status, 404);
  t.ok(people.pagesRequested() > pages);
  t.equal((await call(service, person, "GET", `/api/vaults/${vault.id}`)).status, 200);
});

await t.test("changes during an outage of the bus are requested when it is back", async (t) => {
  const { orgId, owner, member, path } = await company();
  const late = await people.add();
  const [suspended, remaining] = [
    await people.add({ orgId, role: "member" }),
    await people.add({ orgId, role: "member" }),
  ];
  for (const person of [suspended, remaining])
    await call(service, owner, "PUT", `${path}/members/${person.userId}`, {
      body: { permission: "read", encrypted_key: jwe },
    });
  const removed = await people.remove(member, orgId, { publish: false });
  await people.place(suspended, { orgId, role: "member", status: "suspended" }, { publish: false });
  await people.place(late, { orgId, role: "member" }, { publish: false });
  t.equal((await call(service, member, "GET", path)).status, 200, "the removal has not arrived yet");
  await nats.stop();
  await nats.start();
  await until("the one who is missing", async () => (await call(service, member, "GET", path)).status === 403);
  await until("the suspension", async () => (await call(service, suspended, "GET", path)).status === 403);
  await until("the new member", async () => (await call(service, late, "GET", path)).status === 403);
  t.equal((await call(service, remaining, "GET", path)).status, 200);
  t.equal(await people.publish(removed), 1);
  t.equal((await call(service, member, "GET", path)).status, 404, "a later event is applied");
  await people.place(member, { orgId, role: "member" });
  t.equal((await call(service, member, "GET", path)).status, 403, "and a return is newer");
});

await t.test("the copy follows a restored auth-sm whose versions begin again", async (t) => {
  const { orgId, owner, member, path } = await company();
  const restore = people.dump();
  const late = await people.add({ orgId, role: "member" });
  const body = { permission: "read", encrypted_key: jwe };
  t.equal((await call(service, owner, "PUT", `${path}/members/${late.userId}`, { body })).status, 200);
  await people.place(member, { orgId, role: "member", status: "suspended" });
  t.equal((await call(service, member, "GET", path)).status, 403);
  for (let changes = 0; changes < 5; changes += 1) await people.place(owner, { orgId, role: "owner" });

  restore();
  const fresh = await people.place(await people.add(), { orgId, role: "member" });
  await nats.stop();
  await nats.start();
  await until("the suspension is forgotten", async () => (await call(service, member, "GET", path)).status === 200);
  await until("the one who joined since sees nothing", async () => {
    return (await call(service, late, "GET", path)).status === 403;
  });
  t.equal((await call(service, owner, "GET", path)).status, 200);
  t.equal(await people.publish({ ...fresh, version: fresh.version + 1 }), 1, "later events are applied");
  await people.place(member, { orgId, role: "auditor" });
  t.equal((await call(service, member, "GET", path)).status, 403);
});

await t.test(
  "a member who is invited again into a restored database has everything, without a reconciliation",
  async (t) => {
    const { orgId, owner, vault, path } = await company();
    const restore = people.dump();
    const late = await people.add({ orgId, role: "member" });
    await share(service, owner, vault.id, late);
    restore();
    for (let changes = 0; changes < 3; changes += 1) await people.place(owner, { orgId, role: "owner" });
    await people.place(late, { orgId, role: "admin" });
    t.equal((await call(service, late, "GET", path)).status, 200);
    t.equal((await call(service, owner, "GET", `${path}/members`)).body.data.length, 3);
  },
);

await t.test(
  "that shows without a new connection too, and when versions have come past those that were lost",
  async (t) => {
    const { orgId, member, path } = await company();
    const restore = people.dump();
    await people.place(member, { orgId, role: "member", status: "suspended" });
    restore();
    await people.place(member, { orgId, role: "auditor" }, { publish: false });
    for (let changes = 0; changes < 3; changes += 1) await people.add({ orgId: randomUUID(), role: "owner" });
    t.equal((await call(service, member, "GET", path)).status, 403);
    restore();
    for (let changes = 0; changes < 4; changes += 1) await people.add({ orgId: randomUUID(), role: "owner" });
    await service.replica({}, { compareMilliseconds: 100 });
    await until("the suspension is forgotten", async () => (await call(service, member, "GET", path)).status === 200);
  },
);

await t.test("a session that has ended is refused", async (t) => {
  const { member, path } = await company();
  await people.revoke(member);
  const refused = await until("the refusal", async () => {
    const answer = await call(service, member, "GET", path);
    return answer.status === 401 && answer;
  });
  t.match(refused, { body: { error: "invalid_token" } });
});
