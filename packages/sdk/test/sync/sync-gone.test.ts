import { until } from "@coffer/testkit";
import t from "tap";
import type { OfflineStorage, SyncOptions } from "../../src/index.ts";
import { memoryStorage } from "../server/memory-storage.ts";
import { json } from "../server/server.ts";
import { type Device, newDevice, world } from "../server/synced-device.ts";
import type { VaultServer } from "../server/vault-server.ts";

// What must be gone, as vaults while their person travels, is gone from the storage whatever
// becomes of a write.

/** A storage of which a part can fail, as a full disk does. */
function fragileStorage(): {
  storage: OfflineStorage;
  text(): string;
  failing: { save: boolean; clear: boolean };
} {
  const { storage, text } = memoryStorage();
  const failing = { save: false, clear: false };
  const orFail = (fails: boolean, task: () => Promise<void>): Promise<void> =>
    fails ? Promise.reject(new RangeError("no space left")) : task();
  return {
    text,
    failing,
    storage: {
      load: () => storage.load(),
      save: (content) => orFail(failing.save, () => storage.save(content)),
      clear: () => orFail(failing.clear, () => storage.clear()),
    },
  };
}

/** A device that is up to date and has written so. */
async function filledDevice(
  t: Parameters<typeof newDevice>[0],
  server: VaultServer,
  options: SyncOptions,
): Promise<Device> {
  const { sync } = await newDevice(t, server, options);
  await sync.ready;
  await sync.stop();
  const device = await newDevice(t, server, options);
  await device.sync.ready;
  return device;
}

/** The vaults and records of a device that only has its storage. */
async function kept(
  t: Parameters<typeof newDevice>[0],
  server: VaultServer,
  storage: OfflineStorage,
): Promise<{ vaults: string[]; records: number }> {
  server.instead.http = (_request, response) => (json(response, 503, { error: "unavailable", message: "no" }), true);
  const { sync } = await newDevice(t, server, { storage });
  const records = await sync.records();
  await sync.stop();
  return { vaults: sync.vaults().map(({ name }) => name), records: records.length };
}

function hide(server: VaultServer, vaultId: string): void {
  server.vaults.delete(vaultId);
  server.push({ type: "push", action: "vault_deleted", vault_id: vaultId, record_id: null, updated_at: server.tick() });
}

await t.test("a storage that cannot be written keeps nothing rather than that", async (t) => {
  const { server, vaultId } = await world(t);
  const { storage, text, failing } = fragileStorage();
  const errors: unknown[] = [];
  const { sync } = await filledDevice(t, server, { storage, onStorageError: (error) => errors.push(error) });
  t.not(text(), "");
  failing.save = true;
  hide(server, vaultId);
  await until("nothing is kept", () => text() === "", 3);
  t.match(errors, [{ message: "no space left" }]);
  failing.save = false;
  await sync.stop();
  t.not(text(), "", "what is left is written by the next write");
  t.same(await kept(t, server, storage), { vaults: [], records: 0 });
});

await t.test("a storage that could not even be cleared is written when the device is stopped", async (t) => {
  const { server, vaultId } = await world(t);
  const { storage, text, failing } = fragileStorage();
  const errors: unknown[] = [];
  const { sync } = await filledDevice(t, server, { storage, onStorageError: (error) => errors.push(error) });
  const held = text();
  failing.save = failing.clear = true;
  hide(server, vaultId);
  await until("it is said", () => errors.length > 0);
  t.equal(text(), held);
  failing.save = failing.clear = false;
  await sync.stop();
  t.same(await kept(t, server, storage), { vaults: [], records: 0 });
});

await t.test(
  "the same holds during a full reload; the other vaults stay, and continue at their last position",
  async (t) => {
    const { server, other, vaultId } = await world(t, 4);
    const { id: hiddenId } = await other.vaults.create("Hidden");
    await other.records.create(hiddenId, { type: "login", fields: { name: "secret" } });
    const { storage, text } = memoryStorage();
    const { sync } = await filledDevice(t, server, { storage });
    const { last_sync: known } = server.asked.at(-1) ?? {};
    const held = text();
    server.instead.sync = (_asked, socket) => {
      // The first page of everything, and never the second.
      server.instead.sync = () => true;
      const all = server.answer({ type: "sync_request", limit: 1000 }) as { changes: { vault_id: string }[] };
      const changes = all.changes.filter((change) => change.vault_id === vaultId).slice(0, 1);
      socket.send(JSON.stringify({ ...all, changes, reset: true, has_more: true }));
      return true;
    };
    const asked = server.asked.length;
    server.vaults.delete(hiddenId);
    for (const socket of server.sockets) socket.terminate();
    await until("the second page is asked for", () => server.asked.length === asked + 2);
    await until("it is written", () => text() !== held, 3);
    await sync.stop();
    delete server.instead.sync;
    t.same(await kept(t, server, storage), { vaults: ["Private"], records: 4 });
    delete server.instead.http;
    const { sync: next, said } = await newDevice(t, server, { storage });
    await next.ready;
    t.ok((server.asked.at(-1)?.last_sync ?? "") > (known ?? "-"), "from what was complete the last time");
    t.same(said(), []);
  },
);
