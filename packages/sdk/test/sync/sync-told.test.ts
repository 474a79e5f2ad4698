import type { ServerResponse } from "node:http";
import { until } from "@coffer/testkit";
import t from "tap";
import { CofferError } from "../../src/index.ts";
import { replicaKeeper } from "../../src/sync/replica-keeper.ts";
import type { RecordView } from "../../src/vaults/views.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json } from "../server/server.ts";
import { type Device, newDevice, world } from "../server/synced-device.ts";
import { newSession, type VaultServer } from "../server/vault-server.ts";

// What a device keeps was told by it: the next run tells only what is new to what is kept.

const isRecord = /\/records\/[^/]+$/;

/**
 * One record takes the place of another behind the next answer; the pushes of both are there before
 * it, so that they wait for it together.
 */
function replaceBehindAnswer(server: VaultServer, goneId: string, replacement: RecordView): void {
  server.instead.sync = (asked, socket) => {
    delete server.instead.sync;
    const answer = server.answer(asked);
    for (const push of [server.drop(goneId), server.put(replacement)]) socket.send(JSON.stringify(push));
    socket.send(JSON.stringify(answer));
    return true;
  };
}

/** A record that the service does not have yet. */
function withdrawn(server: VaultServer, id: string): RecordView {
  const view = server.records.get(id) as RecordView;
  server.records.delete(id);
  return view;
}

/**
 * A world whose service has news for a device that was up to date: a record that changed, and one
 * that is gone.
 */
async function worldWithNews(
  t: Parameters<typeof newDevice>[0],
): Promise<Awaited<ReturnType<typeof world>> & ReturnType<typeof memoryStorage>> {
  const made = await world(t, 3);
  const kept = memoryStorage();
  const { sync } = await newDevice(t, made.server, { storage: kept.storage });
  await sync.ready;
  await sync.stop();
  made.server.put(made.server.records.get(made.ids[1] as string) as RecordView);
  made.server.drop(made.ids[0] as string);
  return { ...made, ...kept };
}

const news = ["record_deleted", "record_updated item 1"];

await t.test("data that is fetched when the device stops is still reported", async (t) => {
  const { server, ids } = await world(t, 3);
  const replacement = withdrawn(server, ids[2] as string);
  const { storage } = memoryStorage();
  const filled = await newDevice(t, server, { storage });
  await filled.sync.ready;
  await filled.sync.stop();
  replaceBehindAnswer(server, ids[0] as string, replacement);
  let waiting: ServerResponse | undefined;
  server.instead.http = ({ path }, response) => isRecord.test(path) && ((waiting = response), true);
  const one = await newDevice(t, server, { storage });
  await one.sync.ready;
  const stopping = one.sync.stop();
  const response = await until("the record is fetched", () => waiting);
  json(response, 200, server.records.get(replacement.id));
  await stopping;
  delete server.instead.http;
  const other = await newDevice(t, server, { storage });
  await other.sync.ready;
  t.same(
    [...one.said(), ...other.said()].sort(),
    ["record_created item 2", "record_deleted"],
    "by this run or the next",
  );
  t.equal((await other.sync.records()).length, 2);
});

await t.test("a device that stops while it opens records reports them, but not that it is up to date", async (t) => {
  const { server, ids } = await world(t, 20);
  const altered = server.records.get(ids[7] as string) as RecordView;
  server.records.set(altered.id, { ...altered, encrypted_data: altered.encrypted_data.slice(0, 60) });
  const { storage } = memoryStorage();
  let lives = 0;
  let stopping: Promise<void> | undefined;
  const one: Device = await newDevice(t, server, {
    storage,
    onUnreadable() {
      stopping ??= one.sync.stop();
    },
    onLive: () => (lives += 1),
  });
  await until("it is stopped", () => stopping !== undefined);
  await stopping;
  t.same([one.said().length, lives], [20, 0]);
  await t.rejects(one.sync.ready, { message: /was stopped/ });
  const other = await newDevice(t, server, { storage });
  await other.sync.ready;
  t.same(other.said(), []);
});

await t.test("the next run reports a change at which a listener threw", async (t) => {
  const faults = [new RangeError("no"), new CofferError("network", "no"), new CofferError("invalid_token", "no")];
  for (const fault of faults) {
    const { server, storage, text } = await worldWithNews(t);
    const held = text();
    const onChange = (): never => {
      throw fault;
    };
    const { sync, away } = await newDevice(t, server, { storage, onChange });
    let over: unknown;
    sync.ended.catch((error: unknown) => (over = error));
    t.equal(await until("it has ended, or tries again", () => over ?? away[0]), fault);
    await sync.stop();
    t.equal(text(), held);
    const { sync: again, said } = await newDevice(t, server, { storage });
    await again.ready;
    t.same(said().sort(), news, fault.name);
  }
});

await t.test("the same holds when the device was stopped before the listener threw", async (t) => {
  const { server, storage, text, ids } = await worldWithNews(t);
  const held = text();
  const altered = server.records.get(ids[2] as string) as RecordView;
  server.put({ ...altered, encrypted_data: altered.encrypted_data.slice(0, 60) });
  let stopping: Promise<void> | undefined;
  const { sync }: Device = await newDevice(t, server, {
    storage,
    onUnreadable() {
      stopping ??= sync.stop();
    },
    onChange() {
      throw new RangeError("no");
    },
  });
  await t.rejects(sync.ended, RangeError);
  await stopping;
  t.equal(text(), held);
});

await t.test(
  "nothing is written while a change is not reported, however urgent; then it is written at once",
  async (t) => {
    const { storage, text } = memoryStorage();
    const url = "https://vault.example";
    const keeper = await replicaKeeper(await newSession(url), url, { storage });
    await keeper.change(() => {
      keeper.replica.serverTime = "2026-11-20T10:00:00Z";
      return Promise.resolve([{ action: "record_deleted", record_id: "r", vault_id: "v" }]);
    });
    let tell: ((changes: []) => void) | undefined;
    const telling = keeper.change(() => new Promise((resolve) => (tell = resolve)));
    // Timers go off in their order: what is to be gone was to be written before this one.
    await new Promise((resolve) => setTimeout(resolve, 1));
    t.equal(text(), "");
    tell?.([]);
    await telling;
    await until("it is written", () => text() !== "", 3);
    const held = text();
    void keeper.change(() => new Promise(() => undefined));
    await keeper.close();
    t.equal(text(), held);
  },
);

await t.test("if one record of a push cannot be fetched, the push is not applied in part", async (t) => {
  const { server, ids } = await world(t, 3);
  const replacement = withdrawn(server, ids[2] as string);
  const { sync, said, heard, away } = await newDevice(t, server);
  await sync.ready;
  heard.length = 0;
  replaceBehindAnswer(server, ids[0] as string, replacement);
  server.instead.http = ({ path }, response) => {
    if (!isRecord.test(path)) return false;
    delete server.instead.http;
    json(response, 503, { error: "unavailable", message: "no" });
    return true;
  };
  for (const socket of server.sockets) socket.terminate();
  await until("it has failed twice", () => away.length === 2);
  await until("it is back", () => heard.length === 2);
  t.same(said().sort(), ["record_created item 2", "record_deleted"]);
});
