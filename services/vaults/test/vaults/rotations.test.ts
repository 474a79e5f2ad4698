import { randomUUID } from "node:crypto";
import { createDatabase } from "@coffer/postgres";
import { createTelemetry } from "@coffer/telemetry";
import t from "tap";
import { stagedSweep } from "../../src/rotations/sweep.ts";
import { type AnswerBody, call } from "../support/call.ts";
import { entryOf, holder, newSignedVault, newSigner } from "../support/histories.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { expected, jwe, newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { listeners, clock } = service;
const conflict = { status: 409, body: { error: "conflict" } };
const invalid = { status: 400, body: { error: "invalid_request" } };
const check = "cd".repeat(32);

async function company() {
  const orgId = randomUUID();
  const [owner, member] = [await newSigner(service, orgId, "owner"), await newSigner(service, orgId)];
  return { orgId, owner, member };
}

const resealed = ({ id, updated_at }: AnswerBody) => ({ id, updated_at, encrypted_data: sealed() });

await t.test("a rotation replaces the key and every record at once", async (t) => {
  const { owner, member } = await company();
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, member, "write");
  const path = `/api/vaults/${vault.id}`;
  const records = [await newRecord(service, owner, vault.id), await newRecord(service, member, vault.id)];
  const users = [
    { user_id: owner.userId, encrypted_key: sealed() },
    { user_id: member.userId, encrypted_key: jwe },
  ];
  const good = { key_version: 1, encrypted_keys: { users }, records: records.map(resealed) };
  const rotate = (body: object, by = owner) =>
    call(service, by, "POST", `${path}/rotate`, { body: { ...good, ...body } });

  t.match(await rotate({}, member), { status: 403 });
  t.match(await rotate({ key_version: 2 }), conflict);
  t.match(await rotate({ encrypted_keys: { users: users.slice(0, 1) } }), conflict, "a member is missing");
  t.match(await rotate({ records: good.records.slice(0, 1) }), conflict, "a record is missing");
  const other = { ...good.records[0], updated_at: "2020-01-01T00:00:00.000000Z" };
  t.match(await rotate({ records: [other, good.records[1]] }), conflict, "a record was changed");
  t.match(await rotate({ records: [...good.records, { ...other, id: randomUUID() }] }), conflict, "a record too many");
  t.match(await rotate({ records: undefined }), invalid);
  t.match(await rotate({ rotation_id: randomUUID() }), invalid, "both ways");
  const boxed = [users[0], { user_id: member.userId, encrypted_key: sealed() }];
  t.match(await rotate({ encrypted_keys: { users: boxed } }), invalid, "a box that only its maker can open");
  t.match((await call(service, owner, "GET", path)).body, { key_version: 1 }, "nothing has happened");

  const answer = await rotate({
    encrypted_keys: { users: [users[0], { user_id: member.userId, encrypted_key: null }] },
  });
  t.match(answer, { status: 200, body: { key_version: 2, encrypted_key: users[0]?.encrypted_key } });
  const { data } = (await call(service, owner, "GET", `${path}/records`)).body;
  for (const { id, encrypted_data } of good.records) {
    const found = data.find((record) => record.id === id);
    t.equal(found?.encrypted_data, encrypted_data);
    const before = records.find((record) => record.id === id);
    t.ok((found?.updated_at ?? "") > (before?.updated_at ?? ""), "with a later server timestamp");
  }
  t.match((await call(service, member, "GET", path)).body, {
    encrypted_key: null,
    encrypted_key_alg: null,
    key_version: 2,
  });
  t.match((await call(service, owner, "GET", `${path}/members`)).body.data, [{ has_key: true }, { has_key: false }]);
  t.match(
    await listeners.record(
      "the record",
      ({ action, outcome }) => action === "vault.key.rotated" && outcome === "success",
    ),
    {
      target: { id: vault.id },
      changes: { key_version: 2, users: 2 },
      count: 2,
    },
  );
  await listeners.vaultEvent("the push", ({ action, vault_id }) => action === "vault_updated" && vault_id === vault.id);
});

await t.test("a record sealed with the former key is refused after a rotation", async (t) => {
  const { owner } = await company();
  const vault = await newVault(service, owner);
  const record = await newRecord(service, owner, vault.id);
  const path = `/api/vaults/${vault.id}`;
  const users = [{ user_id: owner.userId, encrypted_key: sealed() }];
  const body = { key_version: 1, encrypted_keys: { users }, records: [resealed(record)] };
  expected(await call(service, owner, "POST", `${path}/rotate`, { body }), 200);
  const content = { type: "login", encrypted_data: sealed() };
  for (const key_version of [1, 3]) {
    const stale = { ...content, key_version };
    t.match(await call(service, owner, "POST", `${path}/records`, { body: stale }), conflict);
    t.match(await call(service, owner, "PUT", `${path}/records/${record.id}`, { body: stale }), conflict);
    t.match(
      await call(service, owner, "POST", `${path}/import`, { body: { records: [content], key_version } }),
      conflict,
    );
  }
  const present = { ...content, key_version: 2 };
  t.match(await call(service, owner, "POST", `${path}/records`, { body: present }), { status: 201 });
  t.match(await call(service, owner, "PUT", `${path}/records/${record.id}`, { body: present }), { status: 200 });
  t.match(await call(service, owner, "POST", `${path}/import`, { body: { records: [content], key_version: 2 } }), {
    status: 201,
    body: { imported: 1 },
  });
});

await t.test("with a history a rotation is signed and drops former members", async (t) => {
  const { orgId, owner, member } = await company();
  const { path, state } = await newSignedVault(service, orgId, owner);
  const vaultId = state.res.slice("vault:".length);
  const at = `${path}/members/${member.userId}`;
  const shared = await entryOf(state, vaultId, owner, { set: [holder(member, "write")] });
  expected(
    await call(service, owner, "PUT", at, { body: { permission: "write", encrypted_key: jwe, entry: shared.text } }),
    200,
  );
  const both = [
    { user_id: owner.userId, encrypted_key: jwe },
    { user_id: member.userId, encrypted_key: jwe },
  ];
  const rotate = (body: object) =>
    call(service, owner, "POST", `${path}/rotate`, {
      body: { key_version: 1, records: [], encrypted_keys: { users: both }, ...body },
    });
  t.match(await rotate({}), invalid, "unsigned");
  const who = `user:${member.userId}`;
  const dropping = await entryOf(shared.state, vaultId, owner, { drop: [who], ver: 2, check });
  t.match(await rotate({ entry: dropping.text }), invalid, "it drops a member");
  expected(await call(service, owner, "DELETE", at), 204);
  const alone = { encrypted_keys: { users: both.slice(0, 1) } };
  const { state: rotated, text } = dropping;
  t.match(await rotate({ ...alone, entry: text }), { status: 200, body: { key_version: 2, history_seq: 2 } });

  // A member that the history does not name gets no key.
  await share(service, owner, vaultId, member).then(
    () => t.fail("a share without an entry"),
    () => undefined,
  );
  await execute(
    service,
    `INSERT INTO vaults.vault_members (vault_id, user_id, permission, key_version, added_at) VALUES ($1, $2, 'read', 2, now())`,
    [vaultId, member.userId],
  );
  const next = await entryOf(rotated, vaultId, owner, { ver: 3, check });
  t.match(await rotate({ key_version: 2, entry: next.text }), invalid, "a key for a stranger");
  const none = [both[0], { user_id: member.userId, encrypted_key: null }];
  t.match(await rotate({ key_version: 2, entry: next.text, encrypted_keys: { users: none } }), { status: 200 });
});

await t.test("of two concurrent rotations one succeeds", async (t) => {
  const { orgId, owner } = await company();
  const { path, state } = await newSignedVault(service, orgId, owner);
  const vaultId = state.res.slice("vault:".length);
  const users = [{ user_id: owner.userId, encrypted_key: jwe }];
  const { text } = await entryOf(state, vaultId, owner, { ver: 2, check });
  const body = { key_version: 1, records: [], encrypted_keys: { users }, entry: text };
  const answers = await Promise.all([1, 2].map(() => call(service, owner, "POST", `${path}/rotate`, { body })));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
});

await t.test("a large vault is rotated in stages", async (t) => {
  const { owner, member } = await company();
  const vault = await newVault(service, owner);
  const path = `/api/vaults/${vault.id}`;
  for (let batch = 0; batch < 2; batch += 1) {
    const records = Array.from({ length: 501 }, () => ({ type: "login", encrypted_data: sealed() }));
    expected(await call(service, owner, "POST", `${path}/import`, { body: { records } }), 201);
  }
  const { data } = (await call(service, owner, "GET", `${path}/records`)).body;
  t.equal(data.length, 1_002);
  const next = data.map(resealed);
  const rotation = randomUUID();
  const stage = (id: string, records: object[], by = owner) =>
    call(service, by, "PUT", `${path}/rotation/${id}`, { body: { records } });
  const users = [{ user_id: owner.userId, encrypted_key: sealed() }];
  const rotate = (id: string) =>
    call(service, owner, "POST", `${path}/rotate`, {
      body: { key_version: 1, encrypted_keys: { users }, rotation_id: id },
    });
  t.match(
    await call(service, owner, "POST", `${path}/rotate`, {
      body: { key_version: 1, encrypted_keys: { users }, records: next },
    }),
    invalid,
    "too many for one body",
  );
  t.match(await stage(rotation, next.slice(0, 501)), { status: 200, body: { rotation_id: rotation, staged: 501 } });
  t.match(await rotate(rotation), conflict, "some are missing");
  t.match(await stage(rotation, [{ ...next[0], id: randomUUID() }]), conflict, "a record that is not there");
  t.match(await stage(rotation, next.slice(501)), { status: 200, body: { staged: 1_002 } });
  t.match(await stage(rotation, next.slice(501)), { status: 200, body: { staged: 1_002 } }, "again");
  t.match(await stage(randomUUID(), [], member), { status: 403 });
  const first = data[0]?.id ?? "";
  expected(
    await call(service, owner, "PUT", `${path}/records/${first}`, {
      body: { type: "login", encrypted_data: sealed() },
    }),
    200,
  );
  t.match(await rotate(rotation), conflict, "a record was written meanwhile");
  const changed = (await call(service, owner, "GET", `${path}/records/${first}`)).body;
  expected(await stage(rotation, [resealed(changed)]), 200);
  t.match(await rotate(rotation), { status: 200, body: { key_version: 2 } });
  const left = await execute<{ count: string }>(
    service,
    "SELECT count(*) FROM vaults.staged_records WHERE vault_id = $1",
    [vault.id],
  );
  t.equal(Number(left[0]?.count), 0);
  const after = (await call(service, owner, "GET", `${path}/records`)).body.data;
  const wanted = new Map(next.slice(1).map(({ id, encrypted_data }) => [id, encrypted_data]));
  t.ok(after.every(({ id, encrypted_data }) => id === first || wanted.get(id) === encrypted_data));
});

await t.test("a manager changes nothing that another one has staged, also with its rotation id", async (t) => {
  const { owner, member } = await company();
  const vault = await newVault(service, owner);
  await share(service, owner, vault.id, member, "manage");
  const path = `/api/vaults/${vault.id}`;
  const record = resealed(await newRecord(service, owner, vault.id));
  const other = resealed(await newRecord(service, owner, vault.id));
  const rotation = randomUUID();
  const stage = (by: typeof owner, records: object[]) =>
    call(service, by, "PUT", `${path}/rotation/${rotation}`, { body: { records } });
  t.match(await stage(owner, [record]), { status: 200, body: { staged: 1 } });
  const forged = { ...record, encrypted_data: sealed() };
  t.match(await stage(member, [forged, other]), { status: 200, body: { staged: 1 } }, "only the one left");
  const users = [
    { user_id: owner.userId, encrypted_key: sealed() },
    { user_id: member.userId, encrypted_key: jwe },
  ];
  const body = { key_version: 1, encrypted_keys: { users }, rotation_id: rotation };
  t.match(await call(service, owner, "POST", `${path}/rotate`, { body }), conflict, "the other one is not the owner's");
  expected(await call(service, owner, "DELETE", `${path}/records/${other.id}`), 204);
  t.match(await call(service, owner, "POST", `${path}/rotate`, { body }), { status: 200, body: { key_version: 2 } });
  const stored = (await call(service, owner, "GET", `${path}/records/${record.id}`)).body;
  t.equal(stored.encrypted_data, record.encrypted_data);
});

await t.test("records that were staged an hour ago, or for another rotation of the person, are dropped", async (t) => {
  const { owner } = await company();
  const vault = await newVault(service, owner);
  const record = await newRecord(service, owner, vault.id);
  const stage = (id: string) =>
    call(service, owner, "PUT", `/api/vaults/${vault.id}/rotation/${id}`, { body: { records: [resealed(record)] } });
  const staged = async (): Promise<number> => {
    const text = "SELECT count(*)::integer AS count FROM vaults.staged_records WHERE vault_id = $1";
    return (await execute<{ count: number }>(service, text, [vault.id]))[0]?.count ?? -1;
  };
  expected(await stage(randomUUID()), 200);
  expected(await stage(randomUUID()), 200);
  t.equal(await staged(), 1);
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const database = createDatabase({ url: service.postgres.url, schema: "vaults", telemetry });
  t.teardown(() => database.close());
  const later = (milliseconds: number) =>
    stagedSweep({ database, now: () => new Date(clock.now().getTime() + milliseconds) }).batch();
  const minute = 60 * 1000;
  t.equal(await later(59 * minute), false);
  t.equal(await staged(), 1);
  t.equal(await later(61 * minute), false, "there is no further batch");
  t.equal(await staged(), 0);
});
