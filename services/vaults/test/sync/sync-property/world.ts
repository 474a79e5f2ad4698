import { createRandom, type Random, testPostgres, type TestScope } from "@coffer/testkit";
import { newId } from "@coffer/service";
import pg from "pg";
import { migrateService } from "../../../src/migrate.ts";
import { applyMemberships } from "../../../src/people/apply.ts";
import { type Cast, doSomething, foundVault, membershipOf } from "./actions.ts";
import { createDevice, type Device } from "./device.ts";
import { createMutation, type Mutant } from "./mutants.ts";
import { createOracle, type Oracle } from "./oracle.ts";
import { createReplica, type Replica } from "./replica.ts";

/** The wrong records on devices, as counts. */
export interface Verdict {
  /** A device lacks them, or has an older version. */
  missed: number;
  /** A device has them although they are deleted or invisible. */
  stale: number;
  /** A device received them although its person could never have seen them. */
  leaked: number;
}

export interface World {
  /**
   * People write, share, travel and sync concurrently, then stop. Every device completes its sync on
   * another connection and is compared; then it syncs once more and is compared again.
   */
  round(): Promise<Verdict>;
  /** How many writes were committed. */
  writes(): Promise<number>;
  /** How many transactions of killed replicas were running. */
  readonly cutOff: number;
  /** Whether the mutant matched a statement. */
  readonly met: boolean;
}

const people = 5;
const writers = 6;
const deedsEach = 14;
const syncsEach = 9;

/** Before these actions of a writer a replica is killed and replaced. */
const deadlyDeeds = [3, 8];

/** Several replicas on one database, some of them killed; people with two devices each; an oracle. */
export async function createWorld(t: TestScope, { seed, mutant }: { seed: number; mutant?: Mutant }): Promise<World> {
  const { url } = await testPostgres(t);
  await migrateService({ url });
  const connections = new pg.Pool({ connectionString: url, options: "-c search_path=vaults", max: 10 });
  // The test's database ends after the pool and may cut off connections that are still closing.
  connections.on("error", () => undefined);
  t.teardown(() => connections.end());
  const random = createRandom(seed);
  const mutation = createMutation(mutant);
  const text = (sql: string): string => mutation.text(sql);
  const begin = (): Replica => {
    const replica = createReplica({ url, random, text, connections });
    t.teardown(() => replica.close());
    return replica;
  };
  const replicas = [1, 2, 3].map(begin);
  let cutOff = 0;
  const killOne = async (): Promise<void> => {
    const at = random.below(replicas.length);
    const [dead] = replicas.splice(at, 1, begin());
    cutOff += (await dead?.kill()) ?? 0;
  };
  const oracle = await createOracle(connections);
  const cast: Cast = { orgId: newId(), userIds: Array.from({ length: people }, () => newId()) };
  const [first] = replicas;
  if (first === undefined) throw new TypeError("there are no replicas");
  await untilDone(() =>
    applyMemberships(
      first.deps,
      cast.userIds.map((userId) => membershipOf(cast.orgId, userId, "active", 0)),
    ),
  );
  const scene = { random, cast, connections };
  for (const userId of cast.userIds) await untilDone(() => foundVault(first.deps, userId));
  const devices = [...cast.userIds, ...cast.userIds].map((userId) =>
    createDevice(userId, { random, replicas, oracle }),
  );
  return {
    async round() {
      await Promise.all([
        ...Array.from({ length: writers }, (_, who) => writeOn(replicas, scene, who === 0 ? killOne : undefined)),
        ...devices.map((device) => syncOn(device, random)),
      ]);
      return finishSyncs(devices, oracle);
    },
    async writes() {
      const { rows } = await connections.query<{ count: string }>("SELECT count(*) FROM vaults.outbox");
      return Number(rows[0]?.count);
    },
    get cutOff() {
      return cutOff;
    },
    get met() {
      return mutation.met;
    },
  };
}

/** Repeats the work while the test rolls it back. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("rolled back by the test"))) throw error;
    }
  }
}

async function writeOn(
  replicas: readonly Replica[],
  scene: Parameters<typeof doSomething>[1],
  killOne?: () => Promise<void>,
): Promise<void> {
  for (let deed = 0; deed < deedsEach; deed += 1) {
    if (deadlyDeeds.includes(deed)) await killOne?.();
    const replica = scene.random.pick(replicas);
    if (scene.random.chance(0.1)) replica.stepClock();
    await doSomething(replica.deps, scene);
  }
}

async function syncOn(device: Device, random: Random): Promise<void> {
  for (let sync = 0; sync < syncsEach; sync += 1) {
    if (random.chance(0.2)) device.reconnect();
    await device.sync({ limit: random.chance(0.4) ? 1 + random.below(4) : null, losesAnswers: true });
  }
}

/** Every device completes its sync on another connection, then syncs once more; each time it is compared. */
async function finishSyncs(devices: readonly Device[], oracle: Oracle): Promise<Verdict> {
  const verdict: Verdict = { missed: 0, stale: 0, leaked: 0 };
  for (const device of devices) {
    const truth = await oracle.truth(device.userId);
    device.reconnect();
    for (const limit of [50, null]) {
      while (!(await device.sync({ limit, losesAnswers: false })));
      for (const [id, at] of truth) if (device.records.get(id) !== at) verdict.missed += 1;
      for (const id of device.records.keys()) if (!truth.has(id)) verdict.stale += 1;
    }
    verdict.leaked += device.leaks.size;
  }
  return verdict;
}
