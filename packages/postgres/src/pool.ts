import type pg from "pg";
import { createPool } from "slonik";
import type { DatabasePool, DatabasePoolConnection } from "slonik";
import { checkRows } from "./check-rows.ts";
import { limits } from "./connection.ts";
import { createDriver } from "./driver.ts";
import { isConnectionLost, translate } from "./failure.ts";
import { createGate } from "./gate.ts";
import type { Gate } from "./gate.ts";
import type { Queryable } from "./sql.ts";

/** slonik's pool behind a gate: waiting is bounded, and a refused statement does not cost a connection. */
export interface StatementPool extends Queryable {
  readonly gate: Gate;
  /** Runs `work` with one connection. Errors come out translated (see `translate`). */
  connect<T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T>;
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

  const connect = async <T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T> => {
    const pool = await opened;
    try {
      // slonik closes the connection when `work` throws. An operation that throws `not_found`, or loses to a unique
      // constraint, leaves it in order: its error travels as a value.
      const outcome = await gate.run(() =>
        pool.connect(async (connection): Promise<Outcome<T>> => {
          try {
            return { ok: true, value: await work(connection) };
          } catch (error) {
            if (isConnectionLost(error)) throw error;
            return { ok: false, error };
          }
        }),
      );
      if (outcome.ok) return outcome.value;
      throw outcome.error;
    } catch (error) {
      throw translate(error);
    }
  };

  return {
    gate,
    connect,
    end: async () => (await opened).end(),
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
