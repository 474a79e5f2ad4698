import { randomUUID } from "node:crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { call } from "../support/call.ts";
import { startVaults } from "../support/service.ts";
import { expected, jwe, newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;

async function company() {
  const orgId = randomUUID();
  const [owner, colleague] = [
    await people.add({ orgId, role: "member", name: "Olga", email: "olga@example.com" }),
    await people.add({ orgId, role: "owner", name: "Carl", email: "carl@example.com" }),
  ];
  const vault = await newVault(service, owner);
  return { orgId, owner, colleague, vault, path: `/api/vaults/${vault.id}` };
}
const body = { permission: "read", encrypted_key: jwe };

await t.test("a new member sees the shared vault with the sealed key", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  const record = await newRecord(service, owner, vault.id);
  t.match(await call(service, colleague, "GET", path), { status: 403, body: { error: "access_denied" } });
  const at = `${path}/members/${colleague.userId}`;
  const shared = await call(service, owner, "PUT", at, { body: { ...body, permission: "write", key_version: 1 } });
  t.match(shared, { status: 200, body: { user_id: colleague.userId, permission: "write", key_version: 1 } });
  t.match((await call(service, colleague, "GET", "/api/vaults")).body.data, [
    { id: vault.id, permission: "write", encrypted_key: jwe, encrypted_key_alg: "jwe" },
  ]);
  t.same((await call(service, colleague, "GET", `${path}/records/${record.id}`)).body, record);
  const members = await call(service, colleague, "GET", `${path}/members`);
  t.same(members.body.data, [
    {
      user_id: owner.userId,
      name: "Olga",
      email: "olga@example.com",
      permission: "manage",
      added_at: vault.created_at,
      has_key: true,
    },
    {
      user_id: colleague.userId,
      name: "Carl",
      email: "carl@example.com",
      permission: "write",
      added_at: shared.body.added_at,
      has_key: true,
    },
  ]);
  const event = await listeners.vaultEvent("the event", ({ action, user_ids }) => {
    return action === "vault_created" && user_ids?.[0] === colleague.userId;
  });
  t.match(event, { vault_id: vault.id, user_ids: [colleague.userId] });
  const audit = await listeners.record("the record", ({ action }) => action === "vault.member.added");
  t.match(audit, {
    org_id: orgId,
    actor: { id: owner.userId },
    target: { type: "user", id: colleague.userId, parent_id: vault.id },
    changes: { permission: "write", key_version: 1 },
  });
});

await t.test("pages list every member once", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  // A name that no cursor could hold.
  const others = [
    await people.add({ orgId, role: "member", name: "\u{1f511}".repeat(128), email: "max@example.com" }),
    await people.add({ orgId, role: "member", name: "Ada", email: "ada@example.com" }),
  ];
  for (const person of [colleague, ...others]) await share(service, owner, vault.id, person, "read");
  const at = `${path}/members`;
  const whole = await call(service, owner, "GET", at);
  t.same(
    whole.body.data.map(({ user_id }) => user_id),
    [owner, colleague, ...others].map(({ userId }) => userId),
  );
  t.notOk("next_cursor" in whole.body, "without a limit it is the whole list");
  for (const limit of [1, 2, 3, 4, 1000]) {
    const pages: unknown[][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const after: string = cursor && `&cursor=${cursor}`;
      const { status, body: page } = await call(service, owner, "GET", `${at}?limit=${limit}${after}`);
      t.equal(status, 200);
      pages.push(page.data);
      cursor = page.next_cursor;
    }
    t.same(pages.flat(), whole.body.data, `${limit} at a time`);
    t.equal(pages.length, Math.ceil(4 / limit));
  }
  const first = await call(service, owner, "GET", `${at}?limit=1`);
  const second = await call(service, owner, "GET", `${at}?limit=1&cursor=${String(first.body.next_cursor)}`);
  t.not(first.headers.get("etag"), second.headers.get("etag"));
  const again = { headers: { "if-none-match": first.headers.get("etag") ?? "" } };
  t.equal((await call(service, owner, "GET", `${at}?limit=1`, again)).status, 304);
  for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=!", "cursor=e30"])
    t.match(await call(service, owner, "GET", `${at}?${query}`), { status: 400, body: { error: "invalid_request" } });
});

await t.test("other viewers get vault_updated, and the new member only vault_created", async (t) => {
  const { owner, colleague, vault, path } = await company();
  const before = expected(await call(service, owner, "GET", path), 200);
  const updates = () =>
    listeners.vaults.filter(({ action, vault_id }) => action === "vault_updated" && vault_id === vault.id);
  await share(service, owner, vault.id, colleague);
  const given = expected(await call(service, owner, "GET", path), 200);
  t.ok(given.updated_at > before.updated_at);
  await until("the other viewers are notified", () => updates().length === 1);
  t.same(updates()[0], {
    action: "vault_updated",
    vault_id: vault.id,
    updated_at: given.updated_at,
    user_ids: null,
    except: [colleague.userId],
  });
  await share(service, owner, vault.id, colleague, "manage");
  await until("all viewers are notified", () => updates().length === 2);
  t.notOk(updates()[1]?.except);
  await call(service, colleague, "DELETE", `${path}/members/${colleague.userId}`);
  await until("the remaining viewers are notified", () => updates().length === 3);
  t.equal(updates()[2]?.updated_at, expected(await call(service, owner, "GET", path), 200).updated_at);
});

await t.test("a changed permission applies to the next request and is pushed to the member", async (t) => {
  const { owner, colleague, vault, path } = await company();
  await share(service, owner, vault.id, colleague, "write");
  const content = { type: "login", encrypted_data: sealed() };
  t.equal((await call(service, colleague, "POST", `${path}/records`, { body: content })).status, 201);
  const again = await share(service, owner, vault.id, colleague, "read");
  t.equal((await call(service, colleague, "POST", `${path}/records`, { body: content })).status, 403);
  await listeners.vaultEvent("the event", ({ action, vault_id }) => {
    return action === "vault_updated" && vault_id === vault.id;
  });
  const { body: list } = await call(service, owner, "GET", `${path}/members`);
  t.equal(list.data.find(({ user_id }) => user_id === colleague.userId)?.added_at, again.added_at);
});

await t.test("a removed member sees nothing from the next request on", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  await share(service, owner, vault.id, colleague, "manage");
  const record = await newRecord(service, owner, vault.id);
  const at = `${path}/members/${colleague.userId}`;
  t.equal((await call(service, owner, "DELETE", at)).status, 204);
  for (const below of ["", "/members", "/records", `/records/${record.id}`])
    t.match(
      await call(service, colleague, "GET", path + below),
      { status: 403, body: { error: "access_denied" } },
      below,
    );
  t.same((await call(service, colleague, "GET", "/api/vaults")).body.data, []);
  t.match(await call(service, owner, "DELETE", at), { status: 404, body: { error: "not_found" } });
  await listeners.vaultEvent("the event", ({ action, user_ids }) => {
    return action === "vault_deleted" && user_ids?.[0] === colleague.userId;
  });
  const audit = await listeners.record("the record", ({ action, target }) => {
    return action === "vault.member.removed" && target.id === colleague.userId;
  });
  t.match(audit, {
    org_id: orgId,
    target: { id: colleague.userId, parent_id: vault.id },
    changes: { permission: "manage" },
  });
});

await t.test("only a manager of the vault may share it, in any role", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  const third = await people.add({ orgId, role: "admin" });
  for (const permission of ["read", "write"] as const) {
    await share(service, owner, vault.id, colleague, permission);
    t.equal((await call(service, colleague, "PUT", `${path}/members/${third.userId}`, { body })).status, 403);
    t.equal((await call(service, colleague, "PUT", `${path}/members/${colleague.userId}`, { body })).status, 403);
    t.equal((await call(service, colleague, "DELETE", `${path}/members/${owner.userId}`)).status, 403);
  }
  await share(service, owner, vault.id, colleague, "manage");
  t.equal((await call(service, colleague, "PUT", `${path}/members/${third.userId}`, { body })).status, 200);
});

await t.test("the last manager cannot leave", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  const own = `${path}/members/${owner.userId}`;
  const conflict = { status: 409, body: { error: "conflict" } };
  t.match(await call(service, owner, "DELETE", own), conflict);
  t.match(await call(service, owner, "PUT", own, { body }), conflict);
  await share(service, owner, vault.id, colleague, "write");
  t.match(await call(service, owner, "DELETE", own), conflict);
  await share(service, owner, vault.id, colleague, "manage");
  await people.place(colleague, { orgId, role: "owner", status: "suspended" });
  t.match(await call(service, owner, "DELETE", own), conflict, "a suspended manager does not count");
  await people.place(colleague, { orgId, role: "auditor" });
  t.match(await call(service, owner, "PUT", own, { body }), conflict, "nor does an auditor");
  await people.place(colleague, { orgId, role: "member" });
  t.equal((await call(service, owner, "DELETE", own)).status, 204);
  t.equal((await call(service, owner, "GET", path)).status, 403);
});

await t.test("a member leaves with an audit record, and cannot remove others", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  const third = await people.add({ orgId, role: "member" });
  await share(service, owner, vault.id, colleague, "read");
  await share(service, owner, vault.id, third, "write");
  t.equal((await call(service, colleague, "DELETE", `${path}/members/${third.userId}`)).status, 403);
  t.equal((await call(service, colleague, "DELETE", `${path}/members/${colleague.userId}`)).status, 204);
  t.equal((await call(service, colleague, "GET", path)).status, 403);
  t.equal((await call(service, colleague, "DELETE", `${path}/members/${colleague.userId}`)).status, 403);
  const left = await listeners.record("the record", ({ action, actor, outcome }) => {
    return action === "vault.member.removed" && actor.id === colleague.userId && outcome === "success";
  });
  t.match(left, {
    org_id: orgId,
    target: { id: colleague.userId, parent_id: vault.id },
    changes: { permission: "read" },
  });
  const { body: list } = await call(service, owner, "GET", `${path}/members`);
  t.same(list.data.map(({ user_id }) => user_id).sort(), [owner.userId, third.userId].sort());
});

await t.test("a list of members is audited with their number, a 304 is not", async (t) => {
  const { orgId, owner, colleague, vault, path } = await company();
  await share(service, owner, vault.id, colleague);
  const id = randomUUID();
  const { headers } = await call(service, colleague, "GET", `${path}/members`, { headers: { "x-request-id": id } });
  const record = await listeners.record("the record", ({ request }) => request.id === id);
  t.match(record, {
    org_id: orgId,
    action: "vault.listed",
    actor: { id: colleague.userId },
    target: { type: "vault", id: vault.id },
    count: 2,
    reason: "members",
  });
  const held = { "if-none-match": headers.get("etag") ?? "", "x-request-id": randomUUID() };
  t.equal((await call(service, colleague, "GET", `${path}/members`, { headers: held })).status, 304);
  const marker = randomUUID();
  await call(service, colleague, "GET", path, { headers: { "x-request-id": marker } });
  await listeners.record("a later request", ({ request }) => request.id === marker);
  t.notOk(listeners.audit.some(({ request }) => request.id === held["x-request-id"]));
});

await t.test("of two managers who remove each other concurrently one remains", async (t) => {
  const { owner, colleague, vault, path } = await company();
  await share(service, owner, vault.id, colleague, "manage");
  const answers = await Promise.all([
    call(service, owner, "DELETE", `${path}/members/${colleague.userId}`),
    call(service, colleague, "DELETE", `${path}/members/${owner.userId}`),
  ]);
  t.same(answers.map(({ status }) => status).sort(), [204, 403]);
});

await t.test("a personal vault cannot be shared, nor a vault outside its organization", async (t) => {
  const { orgId, owner, colleague, path } = await company();
  const personal = await newVault(service, owner, { type: "personal" });
  const alone = await people.add();
  const nobodys = await newVault(service, alone, { type: "personal" });
  const invalid = { status: 400, body: { error: "invalid_request" } };
  t.match(
    await call(service, owner, "PUT", `/api/vaults/${personal.id}/members/${colleague.userId}`, { body }),
    invalid,
  );
  t.match(
    await call(service, alone, "PUT", `/api/vaults/${nobodys.id}/members/${colleague.userId}`, { body }),
    invalid,
  );
  t.match((await call(service, alone, "GET", `/api/vaults/${nobodys.id}/members`)).body.data, [
    { user_id: alone.userId, name: "", email: "" },
  ]);
  const stranger = await people.add({ orgId: randomUUID(), role: "owner" });
  const removed = await people.add({ orgId, role: "member" });
  await people.remove(removed, orgId);
  for (const userId of [stranger.userId, removed.userId, alone.userId, randomUUID(), "x"])
    t.match(await call(service, owner, "PUT", `${path}/members/${userId}`, { body }), {
      status: 404,
      body: { error: "not_found" },
    });
});

await t.test("a member who may not use the key does not get it", async (t) => {
  const { orgId, owner, path } = await company();
  const unable = [
    await people.add({ orgId, role: "admin", status: "suspended" }),
    await people.add({ orgId, role: "auditor" }),
  ];
  for (const { userId } of unable)
    t.match(await call(service, owner, "PUT", `${path}/members/${userId}`, { body }), {
      status: 409,
      body: { error: "conflict" },
    });
});

await t.test("a malformed grant is 400; another key version is 409 and changes nothing", async (t) => {
  const { owner, colleague, path } = await company();
  const at = `${path}/members/${colleague.userId}`;
  for (const wrong of [
    { ...body, permission: "own" },
    { ...body, permission: undefined },
    { ...body, encrypted_key: undefined },
    { ...body, encrypted_key: sealed() },
    { ...body, key_version: "1" },
  ])
    t.match(await call(service, owner, "PUT", at, { body: wrong }), {
      status: 400,
      body: { error: "invalid_request" },
    });
  t.match(await call(service, owner, "PUT", at, { body: { ...body, key_version: 2 } }), { status: 409 });
  const large = { ...body, encrypted_key: `${"a".repeat(4 * 1024)}.a.a.a.a` };
  t.equal((await call(service, owner, "PUT", at, { body: large })).status, 413);
  t.equal((await call(service, colleague, "GET", path)).status, 403);
});

await t.test("a member unknown to vaults is requested from auth-sm", async (t) => {
  const { orgId, owner, path } = await company();
  const fresh = await people.add();
  await people.place(fresh, { orgId, role: "member" }, { publish: false });
  t.equal((await call(service, owner, "PUT", `${path}/members/${fresh.userId}`, { body })).status, 200);
  t.equal((await call(service, fresh, "GET", path)).status, 200);
});
