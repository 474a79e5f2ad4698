import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { startVaults } from "../support/service.ts";
import { newRecord, newVault, sealed } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners } = service;
const owner = await people.add({ orgId: randomUUID(), role: "member" });

const item = () => ({ type: "login", encrypted_data: sealed() });

await t.test("valid items are created, in the order in which they were sent", async (t) => {
  const vault = await newVault(service, owner);
  const id = randomUUID();
  const records = [item(), { ...item(), type: "card", id: id.toUpperCase() }, item()];
  const answer = await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  t.match(answer, { status: 201, body: { imported: 3, failed: 0, errors: [] } });
  t.same(
    answer.body.records.map(({ type }) => type),
    ["login", "card", "login"],
  );
  t.equal(answer.body.records[1]?.id, id);
  const { body } = await call(service, owner, "GET", `/api/vaults/${vault.id}/records`);
  t.same(
    new Map(body.data.map((each) => [each.id, each.encrypted_data])),
    new Map(answer.body.records.map((each, n) => [each.id, records[n]?.encrypted_data])),
  );
  const event = await listeners.recordEvent("the event", ({ vault_id }) => vault_id === vault.id);
  t.same(
    event.changes.map(({ action, record_id }) => [action, record_id]),
    answer.body.records.map((each) => ["record_created", each.id]),
  );
  const record = await listeners.record("the record", ({ action, target }) => {
    return action === "record.imported" && target.id === vault.id;
  });
  t.match(record, { count: 3, outcome: "success" });
});

await t.test("an invalid item does not affect the others", async (t) => {
  const vault = await newVault(service, owner);
  const taken = (await newRecord(service, owner, vault.id)).id;
  const gone = (await newRecord(service, owner, vault.id)).id;
  await call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${gone}`);
  const twice = randomUUID();
  const records = [
    item(),
    { ...item(), type: "No" },
    { type: "login" },
    { ...item(), encrypted_data: "?" },
    { ...item(), encrypted_data: "A".repeat(256 * 1024 + 4) },
    { ...item(), id: taken },
    { ...item(), id: gone },
    { ...item(), id: "x" },
    { ...item(), id: twice },
    { ...item(), id: twice.toUpperCase() },
    null,
    7,
    [],
  ];
  const { status, body } = await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, { body: { records } });
  t.equal(status, 201);
  t.match(body, { imported: 2, failed: 11 });
  t.same(
    body.errors.map(({ index }) => index),
    [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12],
  );
  t.equal(body.records[1]?.id, twice);
  for (const { issue } of body.errors) t.match(issue, /^(type|encrypted_data|id|the item): /);
  t.notMatch(JSON.stringify(body.errors), /AAAA/);
  t.equal((await call(service, owner, "GET", `/api/vaults/${vault.id}/records`)).body.data.length, 3);
});

await t.test("1,000 records are accepted; of 1,001 none is created", async (t) => {
  const vault = await newVault(service, owner);
  const path = `/api/vaults/${vault.id}/import`;
  const records = Array.from({ length: 1_000 }, item);
  const refused = await call(service, owner, "POST", path, { body: { records: [...records, item()] } });
  t.match(refused, { status: 413, body: { error: "payload_too_large" } });
  t.same((await call(service, owner, "GET", `/api/vaults/${vault.id}/records`)).body.data, []);
  const answer = await call(service, owner, "POST", path, { body: { records } });
  t.match(answer, { status: 201, body: { imported: 1_000, failed: 0 } });
  t.equal(
    (await call(service, owner, "GET", "/api/vaults")).body.data.find(({ id }) => id === vault.id)?.record_count,
    1_000,
  );
});

await t.test("an empty import creates nothing; a body without a list is 400", async (t) => {
  const vault = await newVault(service, owner);
  const path = `/api/vaults/${vault.id}/import`;
  const empty = await call(service, owner, "POST", path, { body: { records: [] } });
  t.match(empty, { status: 201, body: { imported: 0, failed: 0, records: [], errors: [] } });
  for (const body of [{}, { records: {} }, { records: "x" }, { records: null }, []])
    t.match(await call(service, owner, "POST", path, { body }), { status: 400, body: { error: "invalid_request" } });
});

await t.test("a body of 32 MiB is accepted, a larger one is refused", async (t) => {
  const vault = await newVault(service, owner);
  const path = `/api/vaults/${vault.id}/import`;
  const limit = 32 * 1024 * 1024;
  const filler = (length: number): string => {
    const text = JSON.stringify({
      records: Array.from({ length: 100 }, () => ({ type: "login", encrypted_data: "A".repeat(200 * 1024) })),
    });
    return text + " ".repeat(length - text.length);
  };
  t.match(await call(service, owner, "POST", path, { body: filler(limit) }), { status: 201, body: { imported: 100 } });
  t.match(await call(service, owner, "POST", path, { body: filler(limit + 1) }), { status: 413 });
});

await t.test("two imports of the same ids at once: each id is created once", async (t) => {
  const vault = await newVault(service, owner);
  const path = `/api/vaults/${vault.id}/import`;
  const records = Array.from({ length: 50 }, () => ({ ...item(), id: randomUUID() }));
  const reversed = [...records].reverse();
  const answers = await Promise.all(
    [records, reversed].map((each) => call(service, owner, "POST", path, { body: { records: each } })),
  );
  t.same(
    answers.map(({ status }) => status),
    [201, 201],
  );
  t.equal(
    answers.reduce((sum, { body }) => sum + body.imported, 0),
    50,
  );
});
