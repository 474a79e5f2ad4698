import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { CofferError, type PersonClient } from "@coffer/sdk";
import type { TestScope } from "@coffer/testkit";
import { until } from "../npm-start.ts";
import { newAccount, newDevice, secondSession, type SyncedDevice } from "../vault-people.ts";
import { newWire, type Wire } from "../wire.ts";

// Two people write records of a shared vault, and three devices follow.

export interface RecordLoad {
  /** Waits until each writer has more acknowledged writes. */
  progress(): Promise<void>;
  /** Waits until two consecutive changes are pushed: one catch-up could have pushed the first, not both. */
  pushesFlow(): Promise<void>;
  /** Responses that the faults do not explain. */
  violations(): string[];
  /** Ends the load. Waits until each device holds what the database holds; returns what was lost. */
  stop(): Promise<{ lost: string[]; acknowledged: number }>;
}

export interface RecordLoadOptions {
  url: string;
  /** The present URL of the database of vaults, for its owner or a superuser. */
  databaseUrl: () => string;
  /** Codes of errors that may happen. Default: those of a service that is away. */
  passing?: readonly string[];
}

type WatchedDevice = SyncedDevice & { wire: Wire };

/** A record that one writer alone writes. */
interface Slot {
  name: string;
  /** Possible states: the acknowledged one, and later attempts without a response. Null: no record. */
  allowed: Set<string | null>;
}

interface Writer {
  slots: Slot[];
  acknowledged: number;
  violations: string[];
}

/** `not_found`: for a removal that was done without a response. */
const duringFaults = ["network", "unavailable", "not_found"];
/** Well below the 30 s of the periodic catch-up. */
const pushMilliseconds = 10_000;

/** Registers the people and starts the load. */
export async function startRecordLoad(
  t: TestScope,
  { url, databaseUrl, passing = duringFaults }: RecordLoadOptions,
): Promise<RecordLoad> {
  async function watchedDevice(session: SyncedDevice["session"]): Promise<WatchedDevice> {
    const wire = newWire();
    return { ...(await newDevice(t, url, session, undefined, wire.webSocket)), wire };
  }
  const alice = await watchedDevice(await newAccount(url, "alice@example.com"));
  const { token } = await alice.me.invites.create("bob@example.com", "member");
  const bob = await watchedDevice(await newAccount(url, "bob@example.com", token));
  const bobToo = await watchedDevice(await secondSession(url, "bob@example.com"));
  const devices = [alice, bob, bobToo];
  const team = await alice.me.vaults.create("Team", { type: "shared" });
  await alice.me.vaults.share(team.id, { userId: bob.session.user.id, permission: "write" });
  await bob.me.vaults.accept(team.id);
  for (const device of devices) await until(() => device.sync.vaults().length === 1);

  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const writers: Writer[] = [];
  const working = [alice, bobToo].map(({ me }, at) => {
    const writer: Writer = { slots: [], acknowledged: 0, violations: [] };
    writers.push(writer);
    return write({ me, vaultId: team.id, who: `w${at}`, writer, passing: new Set(passing), stopping: ending.signal });
  });

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

  /** The records of the database with their times, as text. */
  async function stored(): Promise<string> {
    const client = new pg.Client({ connectionString: databaseUrl() });
    await client.connect();
    const { rows } = await client.query<{ id: string; at: string }>(
      `SELECT id, to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM vaults.records`,
    );
    await client.end();
    return JSON.stringify(rows.map(({ id, at }) => [id, at]).sort());
  }

  return {
    async progress() {
      const before = writers.map(({ acknowledged }) => acknowledged);
      await until(() => writers.every(({ acknowledged }, at) => acknowledged >= (before[at] ?? 0) + 3));
    },
    async pushesFlow() {
      let inARow = 0;
      await until(async () => {
        inARow = (await isPushed()) ? inARow + 1 : 0;
        return inARow === 2;
      });
    },
    violations: () => writers.flatMap(({ violations }) => violations),
    async stop() {
      ending.abort();
      await Promise.all(working);
      const truth = await stored();
      const lost: string[] = [];
      for (const { sync } of devices) {
        await until(
          async () =>
            JSON.stringify((await sync.records()).map(({ id, updated_at }) => [id, updated_at]).sort()) === truth,
        );
        const records = await sync.records();
        const held = new Map(records.map(({ fields }) => [fields["name"], fields["password"]]));
        const slots = writers.flatMap((writer) => writer.slots);
        lost.push(...slots.filter(({ name, allowed }) => !allowed.has(held.get(name) ?? null)).map(({ name }) => name));
        if (held.size === 0 || held.size > slots.length + probes) lost.push(`a device holds ${held.size} records`);
      }
      return { lost, acknowledged: writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0) };
    },
  };
}

interface WriteOptions {
  me: PersonClient;
  vaultId: string;
  who: string;
  writer: Writer;
  passing: ReadonlySet<string>;
  stopping: AbortSignal;
}

/** Makes and changes records and removes every third, until it is stopped. */
async function write({ me, vaultId, who, writer, passing, stopping }: WriteOptions): Promise<void> {
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
    const made = await attempt(slot, "0", () => me.records.create(vaultId, { type: "login", fields: fields("0") }));
    if (made === undefined) continue;
    await attempt(slot, "1", () => me.records.update(vaultId, made.id, { fields: fields("1") }));
    if (turn % 3 === 0) await attempt(slot, null, () => me.records.remove(vaultId, made.id));
    await pause(25);
  }
}
