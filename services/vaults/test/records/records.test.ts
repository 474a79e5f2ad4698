import { randomUUID } from "node:crypto";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { expected, newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { people, listeners, clock } = service;

async function ownVault() {
  const owner = await people.add({ orgId: randomUUID(), role: "member" });
  const vault = await newVault(service, owner);
  return { owner, vault, path: `/api/vaults/${vault.id}/records` };
}

await t.test("a record of 2 KiB stays in its row, a large one is stored in TOAST", async (t) => {
  const { owner, path } = await ownVault();
  const apart = async (bytes: number): Promise<boolean> => {
    const body = { type: "login", encrypted_data: sealed(bytes) };
    t.equal((await call(service, owner, "POST", path, { body })).status, 201);
    const [table] = await execute<{ apart: boolean }>(
      service,
      "SELECT pg_relation_size(reltoastrelid) > 0 AS apart FROM pg_class WHERE oid = 'vaults.records'::regclass",
    );
    return table?.apart === true;
  };
  t.notOk(await apart(2 * 1024), "2 KiB");
  t.ok(await apart(20 * 1024), "20 KiB");
});

await t.test("a record is created, read and listed as it was sent", async (t) => {
  const { owner, vault, path } = await ownVault();
  const data = sealed(100);
  const made = await call(service, owner, "POST", path, { body: { type: "login", encrypted_data: data } });
  t.match(made, { status: 201, body: { vault_id: vault.id, type: "login", encrypted_data: data } });
  t.equal(made.body.updated_at, made.body.created_at);
  const read = await call(service, owner, "GET", `${path}/${made.body.id}`);
  t.same(read.body, made.body);
  t.equal(read.headers.get("etag"), `"${made.body.updated_at}"`);
  t.same((await call(service, owner, "GET", path)).body, { data: [made.body] });
});

await t.test("an update replaces type and data, and its time only grows, also if the clock goes back", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id, created_at, updated_at: first } = await newRecord(service, owner, vault.id);
  const times = [first];
  for (const ahead of [0, -3_600_000, 0, 3_900_000, -3_900_000]) {
    clock.advance(ahead);
    const body = { type: "secure_note", encrypted_data: sealed() };
    const answer = await call(service, owner, "PUT", `${path}/${id}`, { body });
    t.match(answer, { status: 200, body: { id, created_at, vault_id: vault.id, ...body } });
    t.same((await call(service, owner, "GET", `${path}/${id}`)).body, answer.body);
    times.push(answer.body.updated_at);
  }
  clock.advance(3_600_000);
  t.same(times, [...new Set(times)].sort());
});

await t.test("a malformed record is 400; one that is too large is 413", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id } = await newRecord(service, owner, vault.id);
  const right = { type: "login", encrypted_data: sealed() };
  for (const body of [
    { ...right, type: undefined },
    { ...right, encrypted_data: undefined },
    { ...right, type: "" },
    { ...right, type: "Login" },
    { ...right, type: "1login" },
    { ...right, type: "x".repeat(33) },
    { ...right, encrypted_data: "" },
    { ...right, encrypted_data: "abc" },
    { ...right, encrypted_data: "ab-_" },
    { ...right, encrypted_data: 7 },
    [],
  ]) {
    t.match(await call(service, owner, "POST", path, { body }), { status: 400, body: { error: "invalid_request" } });
    t.match(await call(service, owner, "PUT", `${path}/${id}`, { body }), { status: 400 });
  }
  t.equal((await call(service, owner, "POST", path, { body: { ...right, id: "x" } })).status, 400);
  const largest = "A".repeat(256 * 1024);
  const body = { type: "x".repeat(32), encrypted_data: largest };
  const made = expected(await call(service, owner, "POST", path, { body }), 201);
  t.equal((await call(service, owner, "GET", `${path}/${made.id}`)).body.encrypted_data, largest);
  const larger = { ...body, encrypted_data: `${largest}AAAA` };
  for (const [method, at] of [
    ["POST", path],
    ["PUT", `${path}/${id}`],
  ] as const)
    t.match(await call(service, owner, method, at, { body: larger }), {
      status: 413,
      body: { error: "payload_too_large" },
    });
});

await t.test("an id is taken once in all vaults, also by a deleted record", async (t) => {
  const { owner, vault, path } = await ownVault();
  const id = randomUUID();
  const body = { id: id.toUpperCase(), type: "login", encrypted_data: sealed() };
  t.equal((await call(service, owner, "POST", path, { body })).body.id, id);
  t.match(await call(service, owner, "POST", path, { body }), { status: 409, body: { error: "conflict" } });
  t.equal((await call(service, owner, "DELETE", `${path}/${id}`)).status, 204);
  t.match(await call(service, owner, "POST", path, { body }), { status: 409, body: { error: "conflict" } });
  const present = await newRecord(service, owner, vault.id);
  const other = await newVault(service, owner);
  for (const taken of [id, present.id]) {
    const again = { id: taken, type: "login", encrypted_data: sealed() };
    const records = `/api/vaults/${other.id}/records`;
    const message = /earlier request of yours created the record, read it/;
    t.match(await call(service, owner, "POST", records, { body: again }), {
      status: 409,
      body: { error: "conflict", message },
    });
    const imported = await call(service, owner, "POST", `/api/vaults/${other.id}/import`, {
      body: { records: [again] },
    });
    t.match(imported, {
      status: 201,
      body: { imported: 0, failed: 1, errors: [{ index: 0, issue: /^id: taken: if an earlier request of yours/ }] },
    });
  }
});

await t.test("a deleted record is gone", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id } = await newRecord(service, owner, vault.id);
  t.equal((await call(service, owner, "DELETE", `${path}/${id}`)).status, 204);
  const body = { type: "login", encrypted_data: sealed() };
  t.match(await call(service, owner, "GET", `${path}/${id}`), { status: 404, body: { error: "not_found" } });
  t.match(await call(service, owner, "PUT", `${path}/${id}`, { body }), { status: 404 });
  t.match(await call(service, owner, "DELETE", `${path}/${id}`), { status: 404 });
  t.same((await call(service, owner, "GET", path)).body.data, []);
});

await t.test("If-Match refuses a write after another; without it the last write wins", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id, updated_at } = await newRecord(service, owner, vault.id);
  const put = (match?: string) =>
    call(service, owner, "PUT", `${path}/${id}`, {
      body: { type: "login", encrypted_data: sealed() },
      headers: match === undefined ? {} : { "if-match": match },
    });
  const first = await put(`"${updated_at}"`);
  t.equal(first.status, 200);
  for (const match of [`"${updated_at}"`, '"x"', '"1999-01-01T00:00:00Z"'])
    t.match(await put(match), { status: 412, body: { error: "precondition_failed" } }, match);
  t.equal((await call(service, owner, "GET", `${path}/${id}`)).body.encrypted_data, first.body.encrypted_data);
  t.equal((await put("*")).status, 200);
  t.equal((await put()).status, 200);
  const nothing = { body: { type: "login", encrypted_data: sealed() }, headers: { "if-match": `"${updated_at}"` } };
  t.equal((await call(service, owner, "PUT", `${path}/${randomUUID()}`, nothing)).status, 404);
});

await t.test("of concurrent writes with one If-Match one succeeds; without it all do", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id, updated_at } = await newRecord(service, owner, vault.id);
  const put = (headers: Record<string, string>) => {
    const body = { type: "login", encrypted_data: sealed() };
    return call(service, owner, "PUT", `${path}/${id}`, { body, headers });
  };
  const held = await Promise.all(Array.from({ length: 8 }, () => put({ "if-match": `"${updated_at}"` })));
  t.same(held.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(412)]);
  const free = await Promise.all(Array.from({ length: 20 }, () => put({})));
  t.ok(free.every(({ status }) => status === 200));
  t.equal(new Set(free.map(({ body }) => body.updated_at)).size, 20, "each has a time of its own");
  const last = free.map(({ body }) => body).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))[0];
  t.same((await call(service, owner, "GET", `${path}/${id}`)).body, last);
});

await t.test("If-Match deletes only an unchanged record", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id, updated_at } = await newRecord(service, owner, vault.id);
  const remove = (match: string, of = id) =>
    call(service, owner, "DELETE", `${path}/${of}`, { headers: { "if-match": match } });
  const body = { type: "login", encrypted_data: sealed() };
  const put = await call(service, owner, "PUT", `${path}/${id}`, { body });
  for (const stale of [`"${updated_at}"`, '"x"', '"1999-01-01T00:00:00Z"', `W/"${put.body.updated_at}"`])
    t.match(await remove(stale), { status: 412, body: { error: "precondition_failed" } }, stale);
  t.same((await call(service, owner, "GET", `${path}/${id}`)).body, put.body, "it is still there");
  t.equal((await remove(`"${put.body.updated_at}"`)).status, 204);
  t.equal((await remove(`"${put.body.updated_at}"`)).status, 404);
  t.equal((await remove("*", (await newRecord(service, owner, vault.id)).id)).status, 204);
});

await t.test("of a concurrent deletion and update with one If-Match one succeeds", async (t) => {
  const { owner, vault, path } = await ownVault();
  const body = { type: "login", encrypted_data: sealed() };
  for (let round = 0; round < 10; round += 1) {
    const { id, updated_at } = await newRecord(service, owner, vault.id);
    const headers = { "if-match": `"${updated_at}"` };
    const requests = [
      () => call(service, owner, "DELETE", `${path}/${id}`, { headers }),
      () => call(service, owner, "PUT", `${path}/${id}`, { body, headers }),
    ];
    if (round % 2 === 1) requests.reverse();
    const statuses = (await Promise.all(requests.map((request) => request()))).map(({ status }) => status);
    const [removed, updated] = round % 2 === 1 ? statuses.reverse() : statuses;
    t.ok(removed === 204 ? updated === 404 : removed === 412 && updated === 200, `${removed} and ${updated}`);
    t.equal((await call(service, owner, "GET", `${path}/${id}`)).status, removed === 204 ? 404 : 200);
  }
});

await t.test("an unchanged record is 304, which is not audited", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id } = await newRecord(service, owner, vault.id);
  for (const at of [path, `${path}?limit=1`, `${path}?type=login`, `${path}/${id}`]) {
    const first = await call(service, owner, "GET", at);
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    t.equal((await call(service, owner, "GET", at, { headers })).status, 304, at);
    await call(service, owner, "PUT", `${path}/${id}`, { body: { type: "login", encrypted_data: sealed() } });
    t.equal((await call(service, owner, "GET", at, { headers })).status, 200, at);
  }
  const marker = await newVault(service, owner);
  await listeners.record("the marker", ({ target }) => target.id === marker.id);
  const reads = listeners.audit.filter(
    ({ actor, action }) => actor.id === owner.userId && ["record.read", "record.listed"].includes(action),
  );
  t.equal(reads.length, 8);
});

await t.test("a list is ordered by id, with pages and filters by type and time", async (t) => {
  const { owner, vault, path } = await ownVault();
  const made = [];
  for (let n = 0; n < 5; n += 1)
    made.push(await newRecord(service, owner, vault.id, { id: randomUUID(), type: n < 2 ? "card" : "login" }));
  const ids = made.map(({ id }) => id).sort();
  const listed = async (query: string) =>
    (await call(service, owner, "GET", `${path}?${query}`)).body.data.map(({ id }) => id);
  t.same(await listed(""), ids);
  t.same(
    await listed("type=card"),
    made
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  );
  t.same(await listed("type=other"), []);
  const since = made[3]?.updated_at ?? "";
  t.same(
    await listed(`updated_since=${since}`),
    made
      .filter(({ updated_at }) => updated_at >= since)
      .map(({ id }) => id)
      .sort(),
  );
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body } = await call(service, owner, "GET", `${path}?limit=2${query}`);
    t.ok(body.data.length <= 2);
    seen.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
  }
  t.same(seen, ids);
  t.equal((await call(service, owner, "GET", `${path}?limit=5`)).body.next_cursor, null);
  for (const query of [
    "limit=0",
    "limit=1001",
    "limit=1.5",
    "cursor=!",
    "cursor=eyJ4IjoxfQ",
    "type=X",
    "updated_since=x",
  ])
    t.equal((await call(service, owner, "GET", `${path}?${query}`)).status, 400, query);
});

await t.test("every change is published to viewers and audited in the organization", async (t) => {
  const { owner, vault, path } = await ownVault();
  const { id, updated_at } = await newRecord(service, owner, vault.id);
  const { body } = await call(service, owner, "PUT", `${path}/${id}`, {
    body: { type: "card", encrypted_data: sealed() },
  });
  await call(service, owner, "DELETE", `${path}/${id}`);
  const event = async (action: string) => {
    const found = await listeners.recordEvent(action, ({ changes }) =>
      changes.some((each) => each.record_id === id && each.action === action),
    );
    return found;
  };
  t.same(await event("record_created"), {
    vault_id: vault.id,
    changes: [{ action: "record_created", record_id: id, updated_at }],
  });
  t.same(await event("record_updated"), {
    vault_id: vault.id,
    changes: [{ action: "record_updated", record_id: id, updated_at: body.updated_at }],
  });
  const deleted = await event("record_deleted");
  t.ok((deleted.changes[0]?.updated_at ?? "") > body.updated_at);
  for (const [action, status, changes] of [
    ["record.created", 201, { type: "login" }],
    ["record.updated", 200, { type: "card" }],
    ["record.deleted", 204, undefined],
  ] as const) {
    const record = await listeners.record(action, (each) => each.action === action && each.target.id === id);
    t.match(record, {
      org_id: vault.org_id,
      outcome: "success",
      actor: { type: "user", id: owner.userId, session_id: owner.sessionId },
      target: { type: "record", id, parent_id: vault.id },
      request: { status },
    });
    t.same(record.changes, changes);
  }
});

await t.test("a member with read permission cannot write", async (t) => {
  const { owner, vault, path } = await ownVault();
  const reader = await people.add({ orgId: vault.org_id ?? "", role: "owner" });
  await share(service, owner, vault.id, reader, "read");
  const { id } = await newRecord(service, owner, vault.id);
  const body = { type: "login", encrypted_data: sealed() };
  t.equal((await call(service, reader, "GET", `${path}/${id}`)).status, 200);
  t.match(await call(service, reader, "POST", path, { body }), { status: 403, body: { error: "access_denied" } });
  t.match(await call(service, reader, "PUT", `${path}/${id}`, { body }), { status: 403 });
  t.match(await call(service, reader, "PUT", `${path}/${randomUUID()}`, { body }), { status: 403 });
  t.match(await call(service, reader, "DELETE", `${path}/${id}`), { status: 403 });
  const items = { records: [body] };
  t.match(await call(service, reader, "POST", `/api/vaults/${vault.id}/import`, { body: items }), { status: 403 });
  await share(service, owner, vault.id, reader, "write");
  t.equal((await call(service, reader, "PUT", `${path}/${id}`, { body })).status, 200);
  const denied = await listeners.record("the denial", ({ action, actor }) => {
    return action === "record.deleted" && actor.id === reader.userId;
  });
  t.match(denied, {
    outcome: "denied",
    reason: "access_denied",
    org_id: vault.org_id,
    target: { id, parent_id: vault.id },
  });
});

await t.test(
  "a key version that no vault can have is another one, and fails no other write of its moment",
  async (t) => {
    const { owner, path } = await ownVault();
    const stranger = await ownVault();
    const body = { type: "login", encrypted_data: sealed() };
    const record = await newRecord(service, owner, path.split("/")[3] ?? "");
    for (const key_version of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const odd = { ...body, key_version };
      const writes = Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? call(service, owner, "POST", path, { body: odd })
          : call(service, stranger.owner, "POST", stranger.path, { body }),
      );
      const statuses = (await Promise.all(writes)).map(({ status }) => status);
      t.same(
        statuses,
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 409 : 201)),
      );
      t.match(await call(service, owner, "PUT", `${path}/${record.id}`, { body: odd }), { status: 409 });
    }
  },
);
