import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import { createDatabase } from "@coffer/postgres";
import { newId, startSweeper } from "@coffer/service";
import { createTelemetry } from "@coffer/telemetry";
import type { Random } from "@coffer/testkit";
import pg from "pg";
import type { Deps } from "../../../src/deps.ts";
import { createRecordReads } from "../../../src/store/records/record-reads.ts";
import { createRecordWrites } from "../../../src/store/records/record-writes.ts";
import { createTicker } from "../../../src/sync/ticker.ts";
import { emptySweep } from "../../../src/vaults/empty.ts";
import { unsteadyDatabase } from "./unsteady-database.ts";

/** One of several processes of the service, with its own jumping clock. */
export interface Replica {
  deps: Deps;
  /** Sets the clock to within three seconds of the right time. */
  stepClock(): void;
  /** Kills it during a write, like `kill -9`. Returns how many of its transactions were running. */
  kill(): Promise<number>;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  url: string;
  random: Random;
  text: (sql: string) => string;
  /** The test's own connections: they end those of the replica. */
  connections: pg.Pool;
}

export function createReplica({ url, random, text, connections }: ReplicaOptions): Replica {
  /** Names its connections. */
  const name = `vaults ${newId()}`;
  let isDead = false;
  /** A dead replica sends no statements. */
  const ifAlive = (sql: string): string => {
    if (isDead) throw new ServiceError("unavailable", "the replica is dead");
    return text(sql);
  };
  const telemetry = createTelemetry({ service: "vaults", level: "silent" });
  const steady = createDatabase({ url, schema: "vaults", poolSize: 6, telemetry: { ...telemetry, service: name } });
  const writes = new pg.Pool({
    connectionString: url,
    options: "-c search_path=vaults",
    application_name: name,
    max: 6,
  });
  // Without a listener the loss of a connection would end the test. Its statement fails anyway.
  writes.on("error", () => undefined);
  writes.on("connect", (connection) => connection.on("error", () => undefined));
  const database = unsteadyDatabase(steady, { random, text: ifAlive, connections: writes });
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
    // No session ends here.
    users: { requireActiveSession: (session) => session } satisfies Pick<Deps["users"], "requireActiveSession">,
  } as unknown as Deps; // the operations of this test use neither HTTP nor the bus
  return {
    deps,
    stepClock: () => void (ahead = random.below(6_001) - 3_000),
    async kill() {
      /** Ends its connections if one of them writes, or in any case. Returns how many were writing. */
      const ended = async (anyhow: boolean): Promise<number> => {
        const { rows } = await connections.query<{ writes: boolean }>(
          `WITH own AS (
             SELECT pid, backend_xid IS NOT NULL AS writes FROM pg_stat_activity WHERE application_name = $1
           )
           SELECT writes, pg_terminate_backend(pid) FROM own WHERE $2 OR (SELECT bool_or(writes) FROM own)`,
          [name, anyhow],
        );
        return rows.filter(({ writes }) => writes).length;
      };
      let cutOff = 0;
      // Without a write it is killed while idle.
      for (let looks = 0; looks < 200 && cutOff === 0; looks += 1) {
        cutOff = await ended(false);
        if (cutOff === 0) await pause(5);
      }
      isDead = true;
      // Connections that it opened meanwhile.
      return cutOff + (await ended(true));
    },
    async close() {
      await emptying.close();
      await Promise.all([steady.close(), writes.end()]);
    },
  };
}
