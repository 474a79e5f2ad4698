import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import t from "tap";
import { CofferError, type PersonClient } from "@coffer/sdk";
import { testDirectory } from "@coffer/testkit";
import { isReady, killService, killStore, type StoreName } from "./faults/inject.ts";
import { npmStart, until } from "./npm-start.ts";
import { newAccount, newDevice, secondSession, type SyncedDevice } from "./vault-people.ts";
import { newWire, type Wire } from "./wire.ts";

// Parts die and come back while two people write records and their devices follow.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "100000", COFFER_LIMIT_USER: "100000" };
const env = { ...limits, COFFER_PROCESSES: "separate" };
const file = t;
const coffer = npmStart(file, { directory: testDirectory(t), env });
const { url } = await coffer.ready;

type WatchedDevice = SyncedDevice & { wire: Wire };

async function watchedDevice(session: SyncedDevice["session"]): Promise<WatchedDevice> {
  const wire = newWire();
  return { ...(await newDevice(file, url, session, undefined, wire.webSocket)), wire };
}

const alice = await watchedDevice(await newAccount(url, "alice@example.com"));
const { token } = await alice.me.invites.create("bob@example.com", "member");
const bob = await watchedDevice(await newAccount(url, "bob@example.com", token));
const bobToo = await watchedDevice(await secondSession(url, "bob@example.com"));
const devices = [alice, bob, bobToo];
const team = await alice.me.vaults.create("Team", { type: "shared" });
const bobsId = bob.session.user.id;
await alice.me.vaults.share(team.id, { userId: bobsId, permission: "write" });
await bob.me.vaults.accept(team.id);
for (const device of devices) await until(() => device.sync.vaults().length === 1);

/** A record that one writer alone writes. */
interface Slot {
  name: string;
  /** Possible states: the acknowledged one, and later attempts without a response. Null: no record. */
  allowed: Set<string | null>;
}

interface Writer {
  slots: Slot[];
  acknowledged: number;
  /** Responses that only our fault explains. */
  violations: string[];
}

/** Allowed errors during faults; `not_found` for a removal that was done without a response. */
const passing = new Set(["network", "unavailable", "not_found"]);

/** Makes and changes records and removes every third, until it is stopped. */
async function write(me: PersonClient, who: string, writer: Writer, stopping: AbortSignal): Promise<void> {
  const attempt = async <T>(slot: Slot, leaves: string | null, work: () => Promise<T>): Promise<T | undefined> => {
    slot.allowed.add(leaves);
    try {
      const done = await work();
      slot.allowed = new Set([leaves]);
      writer.acknowledged += 1;
      return done;
    } catch (error) {
      if (!(error instanceof CofferError && passing.has(error.code))) writer.violations.push(String(error));
      return undefined;
    }
  };
  for (let turn = 0; !stopping.aborted; turn += 1) {
    const slot: Slot = { name: `${who}-${turn}`, allowed: new Set([null]) };
    writer.slots.push(slot);
    const fields = (password: string) => ({ name: slot.name, password });
    const made = await attempt(slot, "0", () => me.records.create(team.id, { type: "login", fields: fields("0") }));
    if (made === undefined) continue;
    await attempt(slot, "1", () => me.records.update(team.id, made.id, { fields: fields("1") }));
    if (turn % 3 === 0) await attempt(slot, null, () => me.records.remove(team.id, made.id));
    await pause(25);
  }
}

const load = new AbortController();
const writers: Writer[] = [alice, bobToo].map(() => ({ slots: [], acknowledged: 0, violations: [] }));
const working = [alice, bobToo].map(({ me }, at) => write(me, `w${at}`, writers[at] as Writer, load.signal)); // as many
t.teardown(() => load.abort());

/** Waits until each writer has more acknowledged writes. */
async function progress(): Promise<void> {
  const before = writers.map(({ acknowledged }) => acknowledged);
  await until(() => writers.every(({ acknowledged }, at) => acknowledged >= (before[at] ?? 0) + 3));
}

/** Well below the 30 s of the periodic catch-up. */
const pushMilliseconds = 10_000;
let probes = 0;

/** Adds a record: whether every device gets its push over the earlier connection. */
async function isPushed(): Promise<boolean> {
  const before = devices.map(({ wire }) => wire.connections.at(-1) ?? []);
  const stayed = (): boolean => devices.every(({ wire }, at) => wire.connections.at(-1) === before[at]);
  const name = `probe-${(probes += 1)}`;
  const { id } = await alice.me.records.create(team.id, { type: "login", fields: { name, password: "p" } });
  const received = (): boolean =>
    before.every((messages) =>
      messages.some(({ type, action, record_id }) => {
        return type === "push" && action === "record_created" && record_id === id;
      }),
    );
  const end = performance.now() + pushMilliseconds;
  while (!received() && stayed() && performance.now() < end) await pause(20);
  return received();
}

/** Waits until two consecutive changes are pushed: one catch-up could have pushed the first, not both. */
async function pushesFlow(): Promise<void> {
  let inARow = 0;
  await until(async () => {
    inARow = (await isPushed()) ? inARow + 1 : 0;
    return inARow === 2;
  });
}

/** Postgres stops answering while people write, then it is killed and restarted. */
async function hangAndDie(name: StoreName): Promise<void> {
  process.kill(coffer.state().store_pids[name] ?? 0, "SIGSTOP");
  await progress();
  await killStore(coffer, name);
}

const faults = {
  "sync is killed": () => killService(coffer, "sync"),
  "vaults is killed": () => killService(coffer, "vaults"),
  "Redis hangs and is killed": () => hangAndDie("redis"),
  "NATS hangs and is killed": () => hangAndDie("nats"),
  "Postgres is killed": () => killStore(coffer, "postgres"),
  "Postgres, NATS and vaults are killed": () =>
    Promise.all([killStore(coffer, "postgres"), killStore(coffer, "nats"), killService(coffer, "vaults")]),
};

await progress();
await pushesFlow();
for (const [what, inject] of Object.entries(faults))
  await t.test(`${what}: writes go on, and a new change is pushed to every device`, async (t) => {
    const began = performance.now();
    await inject();
    await until(() => isReady(coffer));
    t.comment(`ready ${Math.round(performance.now() - began)} ms after it began`);
    await progress();
    await pushesFlow();
    t.comment(`pushes flow ${Math.round(performance.now() - began)} ms after it began`);
    t.same(
      writers.flatMap(({ violations }) => violations),
      [],
    );
  });

/** The records of the database with their times, as text. */
async function stored(): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: coffer.state().stores.postgres });
  await client.connect();
  const { rows } = await client.query<{ id: string; at: string }>(
    `SELECT id, to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM vaults.records`,
  );
  await client.end();
  return new Map(rows.map(({ id, at }) => [id, at]));
}

await t.test("every device has the acknowledged records, and no others than the database", async (t) => {
  load.abort();
  await Promise.all(working);
  const truth = JSON.stringify([...(await stored())].sort());
  for (const device of devices) {
    await until(async () => {
      const held = await device.sync.records();
      return JSON.stringify(held.map(({ id, updated_at }) => [id, updated_at]).sort()) === truth;
    });
    const held = new Map((await device.sync.records()).map(({ fields }) => [fields["name"], fields["password"]]));
    const lost = writers.flatMap(({ slots }) =>
      slots.filter(({ name, allowed }) => !allowed.has(held.get(name) ?? null)),
    );
    t.same(lost, []);
    const known = writers.reduce((sum, { slots }) => sum + slots.length, 0);
    t.ok(held.size > 0 && held.size <= known + probes);
  }
  t.comment(`${writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)} writes acknowledged`);
});
