import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { createPool } from "slonik";
import type { DatabasePool, DatabasePoolConnection } from "slonik";
import { checkRows } from "./check-rows.ts";
import { limits } from "./connection.ts";
import { createDriver } from "./driver.ts";
import { hasStalePlan, isConnectionLost, translate } from "./failure.ts";
import { createGate } from "./gate.ts";
import type { Gate } from "./gate.ts";
import type { Queryable } from "./sql.ts";

/** slonik's pool behind a gate: waiting is bounded, and a refused statement does not cost a connection. */
export interface StatementPool extends Queryable {
  readonly gate: Gate;
  /**
   * Runs `work` with one connection; again with another when the plan of a statement was made for a table that has
   * changed since. Errors come out translated (see `translate`).
   */
  connect<T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T>;
  /** Waits for what runs, at most 5 s, and closes every connection. */
  end(): Promise<void>;
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

/** At most `size` connections, opened when they are needed. */
export function createStatementPool(config: pg.ClientConfig, size: number): StatementPool {
  const gate = createGate(size, limits.acquire);
  const opened: Promise<DatabasePool> = createPool("postgresql://", {
    driverFactory: createDriver(config),
    interceptors: [checkRows],
    maxPoolSize: size,
    minPoolSize: 0,
    connectionRetryLimit: 1,
    queryRetryLimit: 3,
    transactionRetryLimit: 3,
    idleTimeout: 300_000,
    gracefulTerminationTimeout: 500,
    // The default is DISCARD ALL at every release: nothing here leaves anything on a session.
    resetConnection: () => Promise.resolve(),
  }).then((pool) => {
    // Without a listener the loss of an idle connection would end the process.
    pool.on("error", () => undefined);
    return pool;
  });

  /** One connection for `work`. slonik closes it when this rejects. */
  const attempt = async <T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<Outcome<T>> => {
    const pool = await opened;
    return pool.connect(async (connection): Promise<Outcome<T>> => {
      try {
        return { ok: true, value: await work(connection) };
      } catch (error) {
        // An operation that throws `not_found`, or loses to a unique constraint, leaves the connection in order.
        if (isConnectionLost(error) || hasStalePlan(error)) throw error;
        return { ok: false, error };
      }
    });
  };

  const connect = async <T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T> => {
    try {
      const outcome = await gate.run(async () => {
        // Every connection may hold a plan from before a migration; each is met once, and nothing has happened then.
        for (let stale = 0; stale < size; stale += 1) {
          try {
            return await attempt(work);
          } catch (error) {
            if (!hasStalePlan(error)) throw error;
          }
        }
        return attempt(work);
      });
      if (outcome.ok) return outcome.value;
      throw outcome.error;
    } catch (error) {
      throw translate(error);
    }
  };

  return {
    gate,
    connect,
    async end() {
      const patience = new AbortController();
      const waited = sleep(limits.close, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([gate.close(), waited]);
      patience.abort();
      await (await opened).end();
    },
    any: (query) => connect((connection) => connection.any(query)),
    anyFirst: (query) => connect((connection) => connection.anyFirst(query)),
    exists: (query) => connect((connection) => connection.exists(query)),
    many: (query) => connect((connection) => connection.many(query)),
    manyFirst: (query) => connect((connection) => connection.manyFirst(query)),
    maybeOne: (query) => connect((connection) => connection.maybeOne(query)),
    maybeOneFirst: (query) => connect((connection) => connection.maybeOneFirst(query)),
    one: (query) => connect((connection) => connection.one(query)),
    oneFirst: (query) => connect((connection) => connection.oneFirst(query)),
    query: (query) => connect((connection) => connection.query(query)),
    record: (query) => connect((connection) => connection.record(query)),
  };
}
