import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@coffer/testkit";
import t from "tap";
import { CofferError, memoryKeeper, type OfflineStorage, personClient, type SyncOptions } from "../../src/index.ts";
import { fileStorage } from "../../src/node/index.ts";
import type { RecordView } from "../../src/vaults/views.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json } from "../server/server.ts";
import { newDevice, world } from "../server/synced-device.ts";
import { newSession, type VaultServer } from "../server/vault-server.ts";

const directory = await mkdtemp(join(tmpdir(), "coffer-sync-"));
t.teardown(() => rm(directory, { recursive: true }));

await t.test("a device that restarts has its data, and fetches only what is new", async (t) => {
  const { server, other, vaultId } = await world(t);
  const { storage, text } = memoryStorage();
  const first = await newDevice(t, server, { storage });
  await first.sync.ready;
  await first.sync.stop();
  t.notMatch(text(), /item 0|\bPrivate\b|\blogin\b/, "it is sealed");
  await other.records.create(vaultId, { type: "login", fields: { name: "since" } });

  server.instead.http = (_request, response) => (json(response, 503, { error: "unavailable", message: "no" }), true);
  const offline = await newDevice(t, server, { storage });
  t.equal((await offline.sync.records()).length, 2, "also while the service is away");
  t.match(offline.sync.vaults(), [{ name: "Private" }]);
  await offline.sync.stop();
  delete server.instead.http;

  const second = await newDevice(t, server, { storage });
  await second.sync.ready;
  t.same(second.said(), ["record_created since"]);
  t.match(server.asked.at(-1), { last_sync: String });
});

await t.test(
  "a day later everything comes once more: what the service left out, or dated in the future, ends",
  async (t) => {
    const { server, other, vaultId, ids } = await world(t);
    const { storage } = memoryStorage();
    const day = 24 * 60 * 60 * 1000;
    const began = Date.now();
    const names = async (at: number): Promise<string[]> => {
      const client = personClient(server.session, server.url, { attempts: 1, now: () => at });
      const sync = await client.sync({ storage });
      await sync.ready;
      const records = await sync.records();
      await sync.stop();
      return records.map(({ fields }) => fields["name"] ?? "").sort();
    };
    const record = (id = ""): RecordView => server.records.get(id) as RecordView; // it was made
    const [dated = "", left = ""] = ids;
    // One is dated so that no later version is newer.
    const { updated_at: at } = record(dated);
    server.records.set(dated, { ...record(dated), updated_at: "9999-12-31T23:59:59.000000Z" });
    t.same(await names(began), ["item 0", "item 1"]);
    await other.records.update(vaultId, dated, { type: "login", fields: { name: "new 0" } });
    // Of the other the service does not tell.
    const { updated_at: old } = record(left);
    await other.records.update(vaultId, left, { type: "login", fields: { name: "new 1" } });
    server.records.set(left, { ...record(left), updated_at: old });
    t.ok(at < record(dated).updated_at);
    t.same(await names(began + 1), ["item 0", "item 1"], "nothing is newer than what is held");
    t.same(await names(began + day - 1), ["item 0", "item 1"]);
    t.match(server.asked.at(-1), { last_sync: String });
    t.same(await names(began + day), ["new 0", "new 1"]);
    t.equal(server.asked.at(-1)?.last_sync, undefined);
    await names(began + day + 1);
    t.match(server.asked.at(-1), { last_sync: String }, "and then only what is new");
    await names(began);
    t.equal(server.asked.at(-1)?.last_sync, undefined, "a clock that was set back does not put it off");
  },
);

await t.test("what is gone is gone from the storage at once, not only when the device is stopped", async (t) => {
  const { server, vaultId } = await world(t);
  const { storage } = memoryStorage();
  const first = await newDevice(t, server, { storage });
  await first.sync.ready;
  await first.sync.stop();
  const { sync } = await newDevice(t, server, { storage });
  await sync.ready;
  server.vaults.delete(vaultId);
  server.push({ type: "push", action: "vault_deleted", vault_id: vaultId, record_id: null, updated_at: server.tick() });
  const held = await storage.load();
  // Sooner than other changes are written.
  await until("it is written", async () => (await storage.load()) !== held, 3);
  server.instead.http = (_request, response) => (json(response, 503, { error: "unavailable", message: "no" }), true);
  const offline = await newDevice(t, server, { storage });
  t.same([offline.sync.vaults(), await offline.sync.records()], [[], []]);
});

await t.test("what is not this person's of this service is left as it is, and it is said what to do", async (t) => {
  const { server } = await world(t);
  const path = join(directory, "kept");
  const start =
    (more: Partial<VaultServer> = {}, options: SyncOptions = {}) =>
    (): Promise<unknown> =>
      newDevice(t, { ...server, ...more }, { storage: fileStorage(path), ...options });
  const refused = async (why: RegExp, begin: () => Promise<unknown>): Promise<void> => {
    const before = await readFile(path).catch(() => undefined);
    const started = begin();
    await t.rejects(started, { code: "configuration", message: why });
    await t.rejects(started, { message: /kept .*left as it is: name another place, or remove it/ });
    t.same(await readFile(path).catch(() => undefined), before);
  };
  for (const notes of ["my notes\n", "AAAA", "{}"]) {
    await writeFile(path, notes);
    await refused(/holds something that Coffer did not write/, start());
  }
  await writeFile(path, " \n");
  const { sync } = await newDevice(t, server, { storage: fileStorage(path) });
  await sync.ready;
  await sync.stop();
  t.equal((await stat(path)).mode & 0o777, 0o600, "what holds nothing is taken");

  const session = { ...(await newSession(server.url)), user: server.session.user };
  await refused(/data of another person/, start({ session }));
  const elsewhere = await world(t);
  await refused(/holds data of http/, start({ url: elsewhere.server.url }));
  const text = await readFile(path, "utf8");
  await writeFile(path, text.slice(0, 40) + (text[40] === "A" ? "E" : "A") + text.slice(41));
  await refused(/altered/, start());
  await writeFile(path, text.slice(0, 400));
  await refused(/altered/, start());
  await rm(path);
  await mkdir(path);
  await refused(/cannot be read: EISDIR/, start());
});

await t.test("a save that breaks off leaves what was there before, which the next start takes", async (t) => {
  const { server } = await world(t);
  const path = join(directory, "whole");
  const first = await newDevice(t, server, { storage: fileStorage(path) });
  await first.sync.ready;
  await first.sync.stop();
  // What a crash in the middle leaves: the old file, and the beginning of the new one under another name.
  await writeFile(join(directory, ".whole.0123456789ab.tmp"), (await readFile(path, "utf8")).slice(0, 100));
  const { sync } = await newDevice(t, server, { storage: fileStorage(path) });
  t.equal((await sync.records()).length, 2);
});

await t.test("nothing is written for a revoked session, also when a change came just before", async (t) => {
  const { server } = await world(t);
  const written: string[] = [];
  const storage: OfflineStorage = {
    load: () => Promise.resolve(undefined),
    save: () => Promise.resolve(void written.push("save")),
    clear: () => Promise.resolve(void written.push("clear")),
  };
  const { sync } = await newDevice(t, server, { storage });
  await sync.ready;
  server.push({ type: "push", action: "logout", session_id: "s", reason: "admin_revoked" });
  await t.rejects(sync.ended, { code: "invalid_token" });
  await sync.stop();
  t.same(written, ["clear"]);
});

await t.test("a session that is over clears the stored data, whichever answer says so", async (t) => {
  const { server } = await world(t);
  const ways: [string, { current: () => Promise<never> | Promise<typeof server.session> }][] = [
    ["the keeper has none any more", { current: () => Promise.reject(new CofferError("invalid_token", "log in")) }],
    ["another person logged in", { current: async () => newSession(server.url) }],
  ];
  for (const [way, { current }] of ways) {
    const { storage, text } = memoryStorage();
    const keeper = { ...memoryKeeper(server.session) };
    const sync = await personClient(keeper, server.url).sync({ storage });
    t.teardown(() => sync.stop());
    await sync.ready;
    await sync.stop();
    t.not(text(), "");
    const again = await personClient(keeper, server.url).sync({ storage });
    await again.ready;
    keeper.current = current;
    for (const socket of server.sockets) socket.terminate();
    await t.rejects(again.ended, { code: "invalid_token" }, way);
    t.equal(text(), "", way);
  }
});

await t.test("a proxy that refuses ends nothing", async (t) => {
  const { server } = await world(t);
  const { storage, text } = memoryStorage();
  const { sync, away } = await newDevice(t, server, { storage });
  await sync.ready;
  let refusals = 0;
  server.instead.http = (_request, response) => ((refusals += 1), response.writeHead(401).end("<html>"), true);
  for (const socket of server.sockets) socket.close(4001);
  await until("it waits", () => away.length > 0);
  t.ok(refusals > 0);
  delete server.instead.http;
  await until("it is back", () => server.asked.length > 1);
  await sync.stop();
  t.not(text(), "");
});
