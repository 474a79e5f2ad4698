import { randomUUID } from "node:crypto";
import { ServiceError } from "@coffer/errors";
import t from "tap";
import { call } from "../support/call.ts";
import { execute } from "../support/held-vault.ts";
import { startVaults } from "../support/service.ts";
import { holderOf, idsOf, pages, part, quiet, sync } from "../support/sync.ts";
import { newRecord, newVault, sealed, share } from "../support/vaults.ts";

const service = await startVaults(t);
const { clock, people } = service;
const day = 24 * 60 * 60 * 1000;

await t.test("a large response comes in parts that fit the bus, each record once", async (t) => {
  const { owner, vault } = await holderOf(service, 3, 190 * 1024);
  await call(service, owner, "POST", `/api/vaults/${vault.id}/import`, {
    body: { records: Array.from({ length: 600 }, () => ({ type: "login", encrypted_data: sealed() })) },
  });
  const { changes, parts } = await sync(service, owner);
  t.equal(new Set(idsOf(changes)).size, 603);
  t.equal(changes.length, 603);
  t.ok(parts >= 4, `${parts} parts`);
  const first = await part(service, owner);
  t.ok(Buffer.byteLength(JSON.stringify(first)) <= 490 * 1024);
});

await t.test("a record of the maximum size is a part of its own", async (t) => {
  const { owner, vault } = await holderOf(service, 0);
  for (let n = 0; n < 2; n += 1) await newRecord(service, owner, vault.id, { encrypted_data: "A".repeat(256 * 1024) });
  const { changes, parts } = await sync(service, owner);
  t.same([changes.length, parts], [2, 2]);
});

await t.test(
  "a client's limit counts changes and deletions, and the pages end where the first one began",
  async (t) => {
    const { owner, vault } = await holderOf(service, 5);
    const before = await quiet(service, owner);
    const { changes } = await sync(service, owner);
    const path = `/api/vaults/${vault.id}/records`;
    for (const { id } of changes.slice(0, 2)) await call(service, owner, "DELETE", `${path}/${id}`);
    const body = { type: "login", encrypted_data: sealed() };
    for (const { id } of changes.slice(2)) await call(service, owner, "PUT", `${path}/${id}`, { body });
    const all = await pages(service, owner, before, 2);
    t.same(
      all.map((page) => [page.changes.length, page.deleted.length, page.has_more]),
      [
        [2, 0, true],
        [1, 1, true],
        [0, 1, false],
      ],
    );
    t.notOk(all.some(({ reset }) => reset));
    t.equal(new Set(all.map(({ server_time }) => server_time)).size, 3, "each page has a server_time of its own");
    const end = all.at(-1)?.server_time ?? "";
    t.ok(
      end >= before && end < (all[0]?.server_time ?? ""),
      "the last one is the moment at which the first page began",
    );
  },
);

await t.test("exactly `limit` records are one page", async (t) => {
  for (const count of [320, 321, 1000]) {
    const { owner } = await holderOf(service, count);
    const page = await sync(service, owner, null, count);
    t.same([page.changes.length, page.has_more], [count, false], `${count}`);
  }
  const { owner } = await holderOf(service, 321);
  t.same(
    (await pages(service, owner, null, 320)).map(({ changes }) => changes.length),
    [320, 1],
  );
});

await t.test("a page whose response was lost can be requested again", async (t) => {
  const { owner } = await holderOf(service, 6);
  const first = await sync(service, owner, null, 4);
  const second = await sync(service, owner, first.server_time, 4);
  const again = await sync(service, owner, first.server_time, 4);
  t.same(idsOf(again.changes), idsOf(second.changes));
});

await t.test("a change between two pages comes with the rest or with the next sync", async (t) => {
  const { owner, vault } = await holderOf(service, 6);
  const first = await sync(service, owner, null, 3);
  const changed = first.changes[0]?.id ?? "";
  const body = { type: "login", encrypted_data: sealed() };
  const path = `/api/vaults/${vault.id}/records/${changed}`;
  const { body: update } = await call(service, owner, "PUT", path, { body });
  const made = await newRecord(service, owner, vault.id);
  const rest = await sync(service, owner, first.server_time);
  const next = await sync(service, owner, rest.server_time);
  const held = new Map(
    [...first.changes, ...rest.changes, ...next.changes].map(({ id, updated_at }) => [id, updated_at]),
  );
  t.equal(held.size, 7);
  t.equal(held.get(changed), update.updated_at);
  t.ok(held.has(made.id));
});

await t.test("pages that end on another connection have more while anything newer exists", async (t) => {
  const body = { type: "login", encrypted_data: sealed() };
  for (const limit of [4, null]) {
    const { owner } = await holderOf(service, 3);
    const other = await newVault(service, owner);
    for (let n = 0; n < 3; n += 1) await newRecord(service, owner, other.id);
    await quiet(service, owner);
    // It ends in the second vault: a change in the first one is before it.
    const first = await sync(service, owner, null, 4);
    const [passed] = first.changes;
    const path = `/api/vaults/${passed?.vault_id}/records/${passed?.id}`;
    const { body: update } = await call(service, owner, "PUT", path, { body });

    const there = await sync(service, owner, first.server_time, limit);
    t.same([there.changes.length, there.has_more], [2, false], "the first connection receives the push");
    const elsewhere = await sync(service, owner, first.server_time, limit, randomUUID());
    t.same(idsOf(elsewhere.changes), idsOf(there.changes));
    t.same([elsewhere.has_more, elsewhere.reset, elsewhere.server_time], [true, false, there.server_time]);
    const next = await sync(service, owner, elsewhere.server_time, null, randomUUID());
    t.equal(next.changes.find(({ id }) => id === passed?.id)?.updated_at, update.updated_at);
    t.equal(next.has_more, false, "an answer ends where it began");
  }
});

await t.test("a connection that continues pages has missed earlier pushes", async (t) => {
  const { owner, vault } = await holderOf(service, 6);
  await quiet(service, owner);
  const first = await sync(service, owner, null, 2);
  await newRecord(service, owner, vault.id);
  const connection = randomUUID();
  const second = await sync(service, owner, first.server_time, 2, connection);
  const third = await sync(service, owner, second.server_time, null, connection);
  t.equal(third.has_more, true);
});

await t.test(
  "that something newer exists is said too when it is a deletion, a vault given and a vault lost",
  async (t) => {
    const { orgId, owner, vault } = await holderOf(service, 3);
    const other = await people.add({ orgId, role: "member" });
    await share(service, owner, vault.id, other);
    const another = await newVault(service, owner);
    await newRecord(service, owner, another.id);
    const moves: (() => Promise<unknown>)[] = [
      async () => {
        const { changes } = await sync(service, other);
        return call(service, owner, "DELETE", `/api/vaults/${vault.id}/records/${changes[0]?.id}`);
      },
      () => share(service, owner, another.id, other),
      () => call(service, owner, "DELETE", `/api/vaults/${another.id}/members/${other.userId}`),
    ];
    for (const move of moves) {
      await quiet(service, other);
      const first = await sync(service, other, null, 1);
      t.equal(first.has_more, true);
      await move();
      t.equal((await sync(service, other, first.server_time, null, randomUUID())).has_more, true);
    }
  },
);

await t.test("pages that end on another connection are complete if nothing newer exists", async (t) => {
  const { owner } = await holderOf(service, 6);
  await quiet(service, owner);
  const first = await sync(service, owner, null, 2);
  const second = await sync(service, owner, first.server_time, 2, randomUUID());
  const third = await sync(service, owner, second.server_time, 2, randomUUID());
  t.same([first.has_more, second.has_more, third.has_more], [true, true, false]);
  t.equal(new Set(idsOf([...first.changes, ...second.changes, ...third.changes])).size, 6);
});

await t.test("pages without a connection id count as continued on another one", async (t) => {
  const { owner, vault } = await holderOf(service, 2);
  await quiet(service, owner);
  const first = await part(service, owner, { limit: 1, connection_id: undefined });
  await newRecord(service, owner, vault.id);
  const rest = await part(service, owner, { last_sync: first.server_time, connection_id: undefined });
  t.equal(rest.has_more, true);
  const next = await part(service, owner, { last_sync: rest.server_time, connection_id: undefined });
  t.equal(next.has_more, false);
});

await t.test(
  "a person who loses a vault between two pages gets no more of it, and its deletions in the next sync",
  async (t) => {
    const { orgId, owner, vault } = await holderOf(service, 6);
    const other = await people.add({ orgId, role: "member" });
    await share(service, owner, vault.id, other);
    const first = await sync(service, other, null, 3);
    await call(service, owner, "DELETE", `/api/vaults/${vault.id}/members/${other.userId}`);
    const rest = await sync(service, other, first.server_time);
    t.same([rest.changes, rest.has_more], [[], false]);
    const next = await sync(service, other, rest.server_time);
    t.same(
      idsOf(next.deleted).filter((id) => idsOf(first.changes).includes(id)),
      idsOf(first.changes),
    );
  },
);

await t.test("a page belongs to its person: for others its label is an ordinary moment", async (t) => {
  const { owner } = await holderOf(service, 6);
  const { owner: stranger } = await holderOf(service, 6);
  await quiet(service, stranger);
  const { server_time } = await sync(service, owner, null, 4);
  const { changes, reset } = await sync(service, stranger, server_time);
  t.ok(reset || changes.length === 0);
});

await t.test("an unknown moment, too old or in the future: a full sync with reset", async (t) => {
  const { owner } = await holderOf(service, 3);
  const now = clock.now().getTime();
  for (const at of [now + 60_000, now - 91 * day, Date.parse("2020-01-01T00:00:00Z")]) {
    const { changes, reset } = await sync(service, owner, new Date(at).toISOString());
    t.same([changes.length, reset], [3, true], new Date(at).toISOString());
  }
});

await t.test("for a label between two ticks the earlier one counts", async (t) => {
  const { owner, vault } = await holderOf(service, 1);
  const known = await quiet(service, owner);
  const made = await newRecord(service, owner, vault.id);
  const later = await quiet(service, owner);
  // Ticks are at least 20 ms apart.
  const between = new Date(Date.parse(known) + 1).toISOString();
  t.ok(known < between && between < later);
  const { changes, reset } = await sync(service, owner, between);
  t.same([idsOf(changes).includes(made.id), reset], [true, false]);
});

await t.test("a malformed timestamp or cursor is refused", async (t) => {
  const { owner } = await holderOf(service, 0);
  for (const last_sync of ["yesterday", "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z", ""]) {
    await t.rejects(
      sync(service, owner, last_sync),
      new ServiceError("invalid_request", "last_sync is not a timestamp"),
    );
  }
  await t.rejects(part(service, owner, { after: "e30" }), { code: "invalid_request" });
});

await t.test("a cursor from before the epoch cannot be continued", async (t) => {
  const { owner } = await holderOf(service, 350);
  const { after } = await part(service, owner);
  await execute(service, "DELETE FROM vaults.sync_ticks");
  await t.rejects(part(service, owner, { after }), { code: "unavailable" });
});
