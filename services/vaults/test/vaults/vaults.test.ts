import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { startVaults } from "../support/service.ts";
import { expected, jwe, newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;

await t.test("a vault is created, listed and shown with the caller's key", async (t) => {
  const orgId = randomUUID();
  const owner = await people.add({ orgId, role: "member" });
  const key = sealed();
  const body = { name: "Household", type: "shared", encrypted_key: key, key_version: 1 };
  const made = await call(service, owner, "POST", "/api/vaults", { body });
  t.match(made, {
    status: 201,
    body: {
      name: "Household",
      type: "shared",
      org_id: orgId,
      record_count: 0,
      safe_for_travel: false,
      permission: "manage",
      key_version: 1,
      encrypted_key: key,
      encrypted_key_alg: "box-user",
    },
  });
  t.equal("updated_at" in made.body, false);
  const listed = await call(service, owner, "GET", "/api/vaults");
  t.match(listed, { status: 200, body: { data: [{ id: made.body.id, encrypted_key: key, updated_at: String }] } });
  t.equal("next_cursor" in listed.body, false);
  const shown = await call(service, owner, "GET", `/api/vaults/${made.body.id}`);
  t.same(shown.body, listed.body.data[0]);
  await newRecord(service, owner, made.body.id);
  t.equal((await call(service, owner, "GET", `/api/vaults/${made.body.id}`)).body.record_count, 1);
});

await t.test("a missing or malformed field is 400", async (t) => {
  const owner = await people.add({ orgId: randomUUID(), role: "owner" });
  const whole = { name: "Vault", type: "shared", encrypted_key: sealed() };
  for (const body of [
    { ...whole, name: undefined },
    { ...whole, type: undefined },
    { ...whole, encrypted_key: undefined },
    { ...whole, name: "" },
    { ...whole, name: "x".repeat(129) },
    { ...whole, type: "other" },
    { ...whole, encrypted_key: "not base64!" },
    { ...whole, encrypted_key: jwe },
    { ...whole, id: "x" },
    { ...whole, key_version: 0 },
    [],
  ]) {
    t.match(await call(service, owner, "POST", "/api/vaults", { body }), {
      status: 400,
      body: { error: "invalid_request" },
    });
  }
  const long = await call(service, owner, "POST", "/api/vaults", { body: { ...whole, name: "x".repeat(128) } });
  t.equal(long.status, 201);
  const large = { ...whole, encrypted_key: "A".repeat(64 * 1024) };
  t.equal((await call(service, owner, "POST", "/api/vaults", { body: large })).status, 201);
  large.encrypted_key += "AAAA";
  t.match(await call(service, owner, "POST", "/api/vaults", { body: large }), { status: 413 });
  t.match(await call(service, owner, "POST", "/api/vaults", { body: { ...whole, key_version: 2 } }), { status: 409 });
});

await t.test("a client's id is taken once, also by a deleted vault", async (t) => {
  const [one, other] = [
    await people.add({ orgId: randomUUID(), role: "owner" }),
    await people.add({ orgId: randomUUID(), role: "owner" }),
  ];
  const id = randomUUID();
  const body = { id: id.toUpperCase(), name: "Mine", type: "personal", encrypted_key: sealed() };
  t.equal((await call(service, one, "POST", "/api/vaults", { body })).body.id, id);
  for (const person of [one, other]) {
    t.match(await call(service, person, "POST", "/api/vaults", { body }), {
      status: 409,
      body: { error: "conflict", message: /earlier request of yours created the vault, read it/ },
    });
  }
  t.equal((await call(service, one, "DELETE", `/api/vaults/${id}`)).status, 204);
  for (const person of [one, other]) {
    t.match(await call(service, person, "POST", "/api/vaults", { body }), { status: 409, body: { error: "conflict" } });
  }
});

await t.test("of two concurrent creates with one id one succeeds", async (t) => {
  const owner = await people.add({ orgId: randomUUID(), role: "owner" });
  const id = randomUUID();
  const body = { id, name: "Mine", type: "personal", encrypted_key: sealed() };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => call(service, owner, "POST", "/api/vaults", { body })),
  );
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
});

await t.test("X-Coffer-Org chooses the organization of a new vault; the list has all of them", async (t) => {
  const [oldest, second, foreign] = [randomUUID(), randomUUID(), randomUUID()];
  const person = await people.add({ orgId: oldest, role: "member" }, { orgId: second, role: "admin" });
  await people.add({ orgId: foreign, role: "owner" });
  const first = await newVault(service, person);
  t.equal(first.org_id, oldest, "without it the oldest membership counts");
  const other = await newVault(service, person, {}, { "x-coffer-org": second.toUpperCase() });
  t.equal(other.org_id, second);
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  for (const org of [foreign, randomUUID(), "acme", ""]) {
    const answer = await call(service, person, "POST", "/api/vaults", { body, headers: { "x-coffer-org": org } });
    t.match(answer, { status: 403, body: { error: "access_denied" } }, org);
  }
  for (const headers of [{}, { "x-coffer-org": second }, { "x-coffer-org": foreign }]) {
    const { body: list } = await call(service, person, "GET", "/api/vaults", { headers });
    t.same(
      list.data.map(({ id }) => id),
      [first.id, other.id],
    );
  }
});

await t.test("without an organization vaults are personal", async (t) => {
  const person = await people.add();
  const personal = await newVault(service, person, { type: "personal" });
  t.equal(personal.org_id, null);
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  t.match(await call(service, person, "POST", "/api/vaults", { body }), { status: 400 });
  t.match(await call(service, person, "GET", "/api/vaults"), { body: { data: [{ id: personal.id }] } });
  await newRecord(service, person, personal.id);
  const record = await listeners.record("an audit record without an organization", ({ actor, action }) => {
    return actor.id === person.userId && action === "record.created";
  });
  t.equal(record.org_id, null);
});

await t.test("suspended members and auditors cannot create vaults", async (t) => {
  const orgId = randomUUID();
  const people_ = [
    await people.add({ orgId, role: "admin", status: "suspended" }),
    await people.add({ orgId, role: "auditor" }),
  ];
  const body = { name: "Vault", type: "shared", encrypted_key: sealed() };
  for (const person of people_) {
    t.match(await call(service, person, "POST", "/api/vaults", { body }), {
      status: 403,
      body: { error: "access_denied" },
    });
  }
});

await t.test("a change of name or flag needs manage and is visible at once", async (t) => {
  const orgId = randomUUID();
  const [owner, writer] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "owner" })];
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, writer, "write");
  const path = `/api/vaults/${vault.id}`;
  t.match(await call(service, writer, "PATCH", path, { body: { name: "Other" } }), { status: 403 });
  t.match(await call(service, writer, "DELETE", path), { status: 403 });
  const before = expected(await call(service, owner, "GET", path), 200);
  const changed = await call(service, owner, "PATCH", path, { body: { name: "Other", safe_for_travel: true } });
  t.match(changed, { status: 200, body: { name: "Other", safe_for_travel: true, id: vault.id } });
  t.ok(changed.body.updated_at > before.updated_at);
  t.same((await call(service, owner, "GET", path)).body, changed.body);
  const same = await call(service, owner, "PATCH", path, { body: { name: "Other" } });
  t.equal(same.body.updated_at, changed.body.updated_at, "a request without a change does not change the time");
  t.same((await call(service, owner, "PATCH", path, { body: {} })).body, changed.body);
  for (const body of [{ name: "" }, { name: null }, { safe_for_travel: "yes" }])
    t.equal((await call(service, owner, "PATCH", path, { body })).status, 400);
  const event = await listeners.vaultEvent(
    "the event",
    (each) => each.vault_id === vault.id && each.updated_at === changed.body.updated_at,
  );
  t.same(event, { action: "vault_updated", vault_id: vault.id, updated_at: changed.body.updated_at, user_ids: null });
  const record = await listeners.record("the record", ({ action, target, outcome }) => {
    return action === "vault.updated" && target.id === vault.id && outcome === "success";
  });
  t.match(record, {
    org_id: orgId,
    changes: { name: "Other", previous_name: "Vault", safe_for_travel: true },
    target: { type: "vault", parent_id: orgId },
  });
});

await t.test("a vault is deleted with its records, for every member", async (t) => {
  const orgId = randomUUID();
  const [owner, reader] = [await people.add({ orgId, role: "member" }), await people.add({ orgId, role: "owner" })];
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, reader);
  const record = await newRecord(service, owner, vault.id);
  const path = `/api/vaults/${vault.id}`;
  t.equal((await call(service, owner, "DELETE", path)).status, 204);
  for (const person of [owner, reader]) {
    for (const below of ["", "/members", "/records", `/records/${record.id}`])
      t.match(await call(service, person, "GET", path + below), { status: 404, body: { error: "not_found" } });
    t.same((await call(service, person, "GET", "/api/vaults")).body.data, []);
  }
  t.equal((await call(service, owner, "DELETE", path)).status, 404);
  const event = await listeners.vaultEvent(
    "the event",
    (each) => each.vault_id === vault.id && each.action === "vault_deleted",
  );
  t.same(event.user_ids, [owner.userId, reader.userId].sort());
  t.match(
    await listeners.record("the record", ({ action, target }) => action === "vault.deleted" && target.id === vault.id),
    {
      count: 1,
      org_id: orgId,
    },
  );
});

await t.test("pages list every vault once", async (t) => {
  const owner = await people.add({ orgId: randomUUID(), role: "owner" });
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await newVault(service, owner)).id);
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body } = await call(service, owner, "GET", `/api/vaults?limit=2${query}`);
    t.ok(body.data.length <= 2);
    seen.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
  }
  t.same(seen, ids);
  for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=!", "cursor=eyJ4IjoxfQ"])
    t.equal((await call(service, owner, "GET", `/api/vaults?${query}`)).status, 400, query);
});

await t.test("an unchanged response is 304, which is not audited", async (t) => {
  const owner = await people.add({ orgId: randomUUID(), role: "owner" });
  const vault = await newVault(service, owner);
  for (const path of ["/api/vaults", `/api/vaults/${vault.id}`, `/api/vaults/${vault.id}/members`]) {
    const { headers } = await call(service, owner, "GET", path);
    const held = { "if-none-match": headers.get("etag") ?? "" };
    t.equal((await call(service, owner, "GET", path, { headers: held })).status, 304, path);
  }
  const held = { "if-none-match": (await call(service, owner, "GET", "/api/vaults")).headers.get("etag") ?? "" };
  await newRecord(service, owner, vault.id);
  t.equal((await call(service, owner, "GET", "/api/vaults", { headers: held })).status, 200);
  const marker = await newVault(service, owner);
  await listeners.record("the marker", ({ target }) => target.id === marker.id);
  const lists = listeners.audit.filter(({ actor, action }) => actor.id === owner.userId && action === "vault.listed");
  t.same(
    lists.map(({ count }) => count),
    [1, 1, 1, 1, 1],
  );
});

await t.test("the audit has no names of personal vaults", async (t) => {
  const orgId = randomUUID();
  const person = await people.add({ orgId, role: "member" });
  const changesIn = async (id: string) => {
    const ofVault = (wanted: string) =>
      listeners.record(wanted, ({ action, target }) => action === wanted && target.id === id);
    return [(await ofVault("vault.created")).changes, (await ofVault("vault.updated")).changes];
  };
  const made = async (type: "personal" | "shared"): Promise<string> => {
    const { id } = await newVault(service, person, { type, name: "Before" });
    const body = { name: "After", safe_for_travel: true };
    expected(await call(service, person, "PATCH", `/api/vaults/${id}`, { body }), 200);
    return id;
  };
  t.strictSame(await changesIn(await made("personal")), [{ type: "personal" }, { safe_for_travel: true }]);
  t.strictSame(await changesIn(await made("shared")), [
    { name: "Before", type: "shared" },
    { name: "After", previous_name: "Before", safe_for_travel: true },
  ]);
});
