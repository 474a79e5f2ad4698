import { createDatabase } from "@coffer/postgres";
import { newId, startSweeper } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import type pg from "pg";
import type { Deps } from "../../src/deps.ts";
import { createRecordReads } from "../../src/store/record-reads.ts";
import { createRecordWrites } from "../../src/store/record-writes.ts";
import { createTicker } from "../../src/sync/ticker.ts";
import { emptySweep } from "../../src/vaults/empty.ts";
import type { Random } from "./random.ts";
import { unsteadyDatabase } from "./unsteady-database.ts";

/** One of several processes of the service, with a clock of its own that jumps. */
export interface Replica {
  deps: Deps;
  /** Sets the clock to within three seconds of the right time. */
  stepClock(): void;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  url: string;
  random: Random;
  text: (sql: string) => string;
  connections: pg.Pool;
}

export function createReplica({ url, random, text, connections }: ReplicaOptions): Replica {
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const steady = createDatabase({ url, schema: "vaults", poolSize: 6, telemetry });
  const database = unsteadyDatabase(steady, { random, text, connections });
  let ahead = 0;
  const now = (): Date => new Date(Date.now() + ahead);
  const emptying = startSweeper(emptySweep({ database, now }), telemetry.log);
  const deps = {
    database,
    now,
    newId,
    telemetry,
    audit: () => Promise.resolve(),
    ticker: createTicker({ database, now, telemetry }),
    reads: createRecordReads(steady),
    writes: createRecordWrites(database),
    memberships: { refresh: () => Promise.resolve() },
    emptying,
  } as unknown as Deps; // all that the operations of this test use: they meet neither HTTP nor the bus
  return {
    deps,
    stepClock: () => void (ahead = random.below(6_001) - 3_000),
    async close() {
      await emptying.close();
      await steady.close();
    },
  };
}
