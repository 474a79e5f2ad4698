import { rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { memoryStorage } from "../../../../packages/sdk/test/server/memory-storage.ts";
import { npmRun } from "../npm-run.ts";
import { npmStart, until } from "../npm-start.ts";
import { copyFiles, dump, type Dump, load, putFilesBack, whileStopped } from "./restore/backups.ts";
import { holdings, newAccount, newDevice, secondSession, type SyncedDevice } from "../vault-people.ts";
import { newWire, type Wire } from "../wire.ts";

// A whole installation is restored, with devices that know later changes.

const [files, dumped, backups] = [testDirectory(t), testDirectory(t), testDirectory(t)];
let directory = testDirectory(t);
const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };
const file = t;
const start = (port: string) =>
  npmStart(file, { directory, env: { ...limits, COFFER_PORT: port, COFFER_DRAIN_SECONDS: "1" } });
let coffer = start("0");
const { url } = await coffer.ready;
/** The address of all devices. */
const { port } = new URL(url);

async function stop(): Promise<void> {
  process.kill(coffer.pid, "SIGTERM");
  await coffer.exited;
}

async function startAgain(at = port): Promise<void> {
  coffer = start(at);
  await coffer.ready;
}

const { storage } = memoryStorage();
type WatchedDevice = SyncedDevice & { wire: Wire };
async function watchedDevice(session: SyncedDevice["session"], kept = memoryStorage().storage): Promise<WatchedDevice> {
  const wire = newWire();
  return { ...(await newDevice(file, url, session, kept, wire.webSocket)), wire };
}

/** Whether a device received a reset over its connections from that number on. */
const wasReset = ({ wire }: WatchedDevice, from = 0): boolean =>
  wire.connections.slice(from).some((all) => all.some(({ type, reset }) => type === "sync_response" && reset === true));

const alice = await watchedDevice(await newAccount(url, "alice@example.com"));
const { token } = await alice.me.invites.create("bob@example.com", "member");
const bob = await watchedDevice(await newAccount(url, "bob@example.com", token));
let off = await watchedDevice(await secondSession(url, "bob@example.com"), storage);
const team = await alice.me.vaults.create("Team", { type: "shared" });
await alice.me.vaults.share(team.id, { userId: bob.session.user.id, permission: "write" });
await bob.me.vaults.accept(team.id);
const add = (name: string) => alice.me.records.create(team.id, { type: "login", fields: { name, password: "old" } });
const [changed, removed] = [await add("changed"), await add("removed"), await add("unchanged")];
const backedUp = { Team: { changed: "old", unchanged: "old", removed: "old" } };

type Holdings = Record<string, Record<string, string>>;
/** A person's records as one value, in any order. */
const inOrder = (held: Holdings): string =>
  JSON.stringify(Object.entries(held).map(([vault, records]) => [vault, Object.entries(records).sort()]));

async function holds(device: SyncedDevice, expected: Holdings): Promise<void> {
  await until(async () => inOrder(await holdings(device)) === inOrder(expected));
}

/** Changes after the backup, until every device has them; then one device and the installation stop. */
async function liveOnAndStop(): Promise<void> {
  const later = await alice.me.vaults.create("Later");
  await alice.me.records.create(later.id, { type: "login", fields: { name: "later", password: "new" } });
  await add("added");
  await alice.me.records.update(team.id, changed.id, { fields: { name: "changed", password: "new" } });
  await alice.me.records.remove(team.id, removed.id);
  await holds(alice, { Later: { later: "new" }, Team: { added: "old", changed: "new", unchanged: "old" } });
  for (const device of [bob, off]) await holds(device, { Team: { added: "old", changed: "new", unchanged: "old" } });
  await off.sync.stop();
  await stop();
}

/**
 * The installation runs with the backup: every device receives a reset, has exactly those records, and
 * continues. Returns the time of each record that was changed since.
 */
async function restoredTimes(restoring: () => Promise<void>): Promise<(string | undefined)[]> {
  const before = new Map([alice, bob].map((device) => [device, device.wire.connections.length]));
  await restoring();
  await startAgain();
  off = await watchedDevice(off.session, storage);
  await until(() => wasReset(off));
  for (const [device, connections] of before) await until(() => wasReset(device, connections));
  const devices = [alice, bob, off];
  for (const device of devices) await holds(device, backedUp);
  const times = await Promise.all(devices.map(async ({ sync }) => (await sync.record(changed.id))?.updated_at));
  const { id } = await add("afterwards");
  for (const device of devices) await until(async () => (await device.sync.record(id)) !== undefined);
  await alice.me.records.remove(team.id, id);
  for (const device of devices) await until(async () => (await device.sync.record(id)) === undefined);
  return times;
}

let rows: Dump = { tables: [], sequences: [] };
await stop();
copyFiles(directory, files);
await whileStopped(directory, async (client) => {
  rows = await dump(client, dumped);
});
await startAgain();
const backup = join(backups, "coffer.backup");
const backedUpWith = await npmRun("backup", [backup], directory);

await t.test(
  "files that were copied while Postgres was stopped are put back, and the row that says so is deleted",
  async (t) => {
    await liveOnAndStop();
    const times = await restoredTimes(async () => {
      putFilesBack(directory, files);
      await whileStopped(directory, (client) => client.query("DELETE FROM vaults.sync_epoch"));
    });
    t.same(times, Array(3).fill(changed.updated_at));
  },
);

await t.test("a dump is loaded into an empty database of another server", async (t) => {
  await liveOnAndStop();
  const times = await restoredTimes(async () => {
    rmSync(join(directory, "postgres"), { recursive: true });
    // Makes the tables; no data is there.
    await startAgain("0");
    await stop();
    await whileStopped(directory, async (client) => {
      await load(client, dumped, rows);
      // Its transaction ids are ahead of the other server's: the devices' positions would seem valid here.
      await client.query("DO $$ BEGIN FOR n IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
    });
  });
  t.same(times, Array(3).fill(changed.updated_at));
});

await t.test("a backup of npm run backup is restored on another machine", async (t) => {
  t.match(backedUpWith, { code: 0, stdout: `${backup}\n` });
  await liveOnAndStop();
  const times = await restoredTimes(async () => {
    directory = join(testDirectory(file), "new");
    t.match(await npmRun("restore", [backup], directory), { code: 0, stdout: / rows of / });
  });
  t.same(times, Array(3).fill(changed.updated_at));
});
