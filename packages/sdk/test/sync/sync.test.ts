import { newId } from "@coffer/crypto";
import { until } from "@coffer/testkit";
import t from "tap";
import { personClient } from "../../src/index.ts";
import type { RecordView } from "../../src/vaults/views.ts";
import { newDevice, world } from "../server/synced-device.ts";
import type { VaultServer } from "../server/vault-server.ts";

const fetches = ({ received }: VaultServer): number =>
  received.filter(({ method, path }) => method === "GET" && /\/records\/[^/]+$/.test(path)).length;

await t.test("a new device gets everything, decrypted, in pages of 1,000", async (t) => {
  const { server, vaultId } = await world(t, 2500);
  const { sync, said } = await newDevice(t, server);
  await sync.ready;
  t.match(server.offered[0], /^coffer\.sync\.v1, ?bearer\.access-1$/, "the token goes as a subprotocol");
  t.equal(server.asked.length, 3);
  t.same(server.asked[0], { type: "sync_request", limit: 1000 });
  t.match(server.asked[1], { last_sync: String, limit: 1000 });
  t.equal((await sync.records(vaultId)).length, 2500);
  t.match(sync.vaults(), [{ name: "Private", record_count: 2500 }]);
  t.same(said().slice(0, 3), ["vault_created Private", "record_created item 0", "record_created item 1"]);
  t.equal(said().length, 2501);
});

await t.test("a push is a reason to fetch the record, once, and what is held already is none", async (t) => {
  const { server, other, vaultId, ids } = await world(t);
  const { sync, said, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  await other.records.update(vaultId, ids[0] as string, { type: "login", fields: { name: "new" } });
  const { updated_at } = server.records.get(ids[0] as string) as { updated_at: string };
  const push = { type: "push", action: "record_updated", record_id: ids[0], vault_id: vaultId, updated_at };
  const before = fetches(server);
  server.push(push);
  await until("it is heard", () => heard.length > 0);
  server.push(push);
  server.push({ ...push, updated_at: "2026-11-20T10:00:00.000001Z" });
  server.push({ type: "push", action: "record_deleted", record_id: ids[1], vault_id: vaultId, updated_at });
  await until("the deletion is heard", () => heard.length > 1);
  t.same(said(), ["record_updated new", "record_deleted"]);
  t.equal(fetches(server) - before, 1);
  t.same(
    (await sync.records()).map(({ fields }) => fields["name"]),
    ["new"],
  );
});

await t.test("many pushes at once, as of an import, are one sync and not a request each", async (t) => {
  const { server, vaultId } = await world(t);
  const { sync, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  const other = personClient(server.session, server.url);
  const items = Array.from({ length: 300 }, (_, index) => ({ type: "login", fields: { name: `m${index}` } }));
  const { records } = await other.records.import(vaultId, items);
  const before = fetches(server);
  for (const { id } of records) {
    const { updated_at } = server.records.get(id) as { updated_at: string };
    server.push({ type: "push", action: "record_created", record_id: id, vault_id: vaultId, updated_at });
  }
  await until("all are heard", () => heard.length === 300);
  t.ok(fetches(server) - before < 10, String(fetches(server) - before));
  t.equal(server.asked.length, 2);
});

await t.test("a vault appears with its records, and disappears with them, without a trace", async (t) => {
  const { server, vaultId, ids } = await world(t);
  const { sync, said, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  const vault = server.vaults.get(vaultId) as NonNullable<ReturnType<typeof server.vaults.get>>;
  const hidden = [...server.records.values()];
  server.vaults.delete(vaultId);
  for (const id of ids) server.drop(id);
  server.push({ type: "push", action: "vault_deleted", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is gone", () => heard.length > 0);
  t.same([said(), sync.vaults(), await sync.records()], [["vault_deleted"], [], []]);

  server.vaults.set(vaultId, { ...vault, name: "Back" });
  server.deleted.clear();
  for (const record of hidden) server.put(record);
  server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is back", () => heard.length > 3);
  t.same(said().slice(1), ["vault_created Back", "record_created item 0", "record_created item 1"]);

  server.vaults.set(vaultId, { ...vault, name: "Renamed" });
  server.push({ type: "push", action: "vault_updated", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is renamed", () => said().at(-1) === "vault_updated Renamed");
  server.push({ type: "push", action: "folder_updated", folder_id: newId(), change: "secrets" });
  await until("a folder is told of", () => heard.at(-1)?.action === "folder_updated");
  t.match(heard.at(-1), { action: "folder_updated", folder_id: String, change: "secrets" });
});

await t.test("after a break it resumes at its last position, and reports what happened meanwhile", async (t) => {
  const { server, other, vaultId, ids } = await world(t);
  const { sync, said, heard, away } = await newDevice(t, server);
  await sync.ready;
  const known = server.asked.at(-1);
  t.same(known, { type: "sync_request", limit: 1000 });
  heard.length = 0;
  for (const socket of server.sockets) socket.terminate();
  await until("the break is noticed", () => away.length > 0);
  await other.records.create(vaultId, { type: "login", fields: { name: "meanwhile" } });
  server.drop(ids[0] as string);
  await other.vaults.create("Empty");
  await until("it has caught up", () => heard.length >= 3);
  t.same(said().sort(), ["record_created meanwhile", "record_deleted", "vault_created Empty"]);
  t.match(server.asked.at(-1), { last_sync: String });
  t.same(away, [1], "one second after the first failure");
});

await t.test("a full reload replaces the stored data: a record that does not come again is gone", async (t) => {
  const { server, other, vaultId, ids } = await world(t, 4);
  const { sync, said, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  await other.records.update(vaultId, ids[1] as string, { type: "login", fields: { name: "changed" } });
  server.records.delete(ids[0] as string);
  const pages: object[] = [];
  server.instead.sync = (asked, socket) => {
    // In pages of two, each with `reset`: only the first clears.
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    const from = pages.length * 2;
    const page = { ...all, changes: all.changes.slice(from, from + 2), reset: true, has_more: from === 0 };
    pages.push(asked);
    socket.send(JSON.stringify(page));
    return true;
  };
  server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is known what is gone", () => heard.some(({ action }) => action === "record_deleted"));
  t.same(said(), ["record_updated changed", "record_deleted"]);
  t.same((await sync.records()).map(({ id }) => id).sort(), ids.slice(1).sort());
  t.equal(pages.length, 2);
});

await t.test("an answer that begins again in the middle of a walk replaces what is held", async (t) => {
  const { server, vaultId, ids } = await world(t, 4);
  const { sync, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  server.records.delete(ids[0] as string);
  let pages = 0;
  server.instead.sync = (_asked, socket) => {
    // The server does not know the second page's place any more: everything comes again, in two
    // pages with `reset`.
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    const changes = [[], all.changes.slice(0, 2), all.changes.slice(2)][pages] ?? [];
    socket.send(JSON.stringify({ ...all, changes, reset: pages > 0, has_more: pages < 2 }));
    pages += 1;
    return true;
  };
  server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("it is known what is gone", () => heard.some(({ action }) => action === "record_deleted"));
  t.same((await sync.records()).map(({ id }) => id).sort(), ids.slice(1).sort());
  t.equal(pages, 3);
});

await t.test("a record that was deleted while the answer was written is in both lists, and is gone", async (t) => {
  const { server, vaultId, ids } = await world(t, 2);
  const { sync, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  server.instead.sync = (_asked, socket) => {
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    const deleted = [{ id: ids[0], vault_id: vaultId, deleted_at: server.tick() }];
    socket.send(JSON.stringify({ ...all, deleted }));
    return true;
  };
  server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("the deletion is applied", () => heard.some(({ action }) => action === "record_deleted"));
  t.same(
    (await sync.records()).map(({ id }) => id),
    [ids[1]],
  );
});

await t.test("a full reload that breaks off is fetched again from the start", async (t) => {
  const { server, ids } = await world(t, 4);
  const { sync, said } = await newDevice(t, server);
  await sync.ready;
  const asked = server.asked.length;
  server.instead.sync = (_asked, socket) => {
    delete server.instead.sync;
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    socket.send(JSON.stringify({ ...all, changes: all.changes.slice(0, 1), reset: true, has_more: true }));
    server.instead.sync = (_next, again) => {
      delete server.instead.sync;
      again.terminate();
      return true;
    };
    return true;
  };
  for (const socket of server.sockets) socket.terminate();
  await until("it has begun again", () => server.asked.length >= asked + 3);
  t.notOk(server.asked.at(-1)?.last_sync);
  await until("everything is back", async () => (await sync.records()).length === ids.length);
  t.equal(said().length, 5, "nothing is said of what is as it was");
});

await t.test("a full reload counts also where it is older; any other answer replaces nothing newer", async (t) => {
  const { server, other, vaultId, ids } = await world(t);
  const [id = "", marker = ""] = ids;
  const older = server.records.get(id) as RecordView;
  await other.records.update(vaultId, id, { type: "login", fields: { name: "newer" } });
  const { sync, said, heard } = await newDevice(t, server);
  await sync.ready;
  const ask = (): void =>
    server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: "" });

  heard.length = 0;
  server.put(server.records.get(marker) as RecordView);
  server.instead.sync = (asked, socket) => {
    const answer = server.answer(asked) as { changes: object[] };
    socket.send(JSON.stringify({ ...answer, changes: [older, ...answer.changes] }));
    return true;
  };
  ask();
  await until("it has heard", () => heard.length > 0);
  t.same(said(), ["record_updated item 1"]);
  t.match(await sync.record(id), { fields: { name: "newer" } });

  // The database was restored to a moment before the update.
  heard.length = 0;
  server.records.set(id, older);
  server.instead.sync = (_asked, socket) => {
    socket.send(JSON.stringify({ ...server.answer({ type: "sync_request", limit: 1000 }), reset: true }));
    return true;
  };
  ask();
  await until("it has heard", () => heard.length > 0);
  t.same(said(), ["record_updated item 0"]);
  t.match(await sync.record(id), { fields: { name: "item 0" }, updated_at: older.updated_at });
});

await t.test("during a full reload the stored data is still there", async (t) => {
  const { server, vaultId, ids } = await world(t, 4);
  const { sync, said, heard } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  let finish: (() => void) | undefined;
  server.instead.sync = (_asked, socket) => {
    const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: object[] };
    const send = (changes: object[], has_more: boolean): void =>
      socket.send(JSON.stringify({ ...all, changes, reset: true, has_more }));
    server.instead.sync = () => ((finish = () => send(all.changes.slice(1, 3), false)), true);
    send(all.changes.slice(0, 1), true);
    return true;
  };
  server.push({ type: "push", action: "vault_created", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  await until("the second page is asked for", () => finish);
  t.match(await sync.record(ids[3] as string), { fields: { name: "item 3" } });
  t.same([(await sync.records(vaultId)).length, sync.vaults()[0]?.record_count], [4, 4]);
  server.records.delete(ids[3] as string);
  finish?.();
  await until("it is known what is gone", () => heard.length > 0);
  t.same([said(), await sync.record(ids[3] as string)], [["record_deleted"], undefined]);
});
