import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { createPool, type DatabasePool, type DatabasePoolConnection } from "slonik";
import { checkRows } from "./check-rows.ts";
import { limits } from "./connection.ts";
import { createDriver } from "./driver.ts";
import { hasStalePlan, isConnectionLost, translate } from "./failure.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { Queryable } from "./sql.ts";

/**
 * slonik's pool behind a semaphore: bounds the wait, and reuses the connection after a refused
 * statement.
 */
export interface StatementPool extends Queryable {
  readonly semaphore: Semaphore;
  /**
   * Runs `work` with one connection, and retries on another after a stale plan. Throws translated
   * errors (see `translate`).
   */
  connect<T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T>;
  /** Waits at most 5 s for running work, then closes every connection. */
  end(): Promise<void>;
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

/**
 * At most `size` connections, opened when they are needed. `onError` is called with each error of a
 * statement.
 */
export function createStatementPool(
  config: pg.ClientConfig,
  size: number,
  onError: (error: unknown) => void = () => undefined,
): StatementPool {
  const semaphore = createSemaphore(size, limits.acquire);
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
    // Replaces DISCARD ALL at every release: statements here leave no session state.
    resetConnection: () => Promise.resolve(),
  }).then((pool) => {
    // Without a listener, the loss of an idle connection would end the process.
    pool.on("error", () => undefined);
    return pool;
  });

  /** slonik closes the connection if this rejects. */
  const attempt = async <T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<Outcome<T>> => {
    const pool = await opened;
    return pool.connect(async (connection): Promise<Outcome<T>> => {
      try {
        return { ok: true, value: await work(connection) };
      } catch (error) {
        // Other errors, such as `not_found` or a unique violation, leave the connection usable.
        if (isConnectionLost(error) || hasStalePlan(error)) throw error;
        return { ok: false, error };
      }
    });
  };

  const connect = async <T>(work: (connection: DatabasePoolConnection) => Promise<T>): Promise<T> => {
    try {
      const outcome = await semaphore.run(async () => {
        // After a migration every connection may hold a stale plan. The statement did not run, so
        // retry.
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
      onError(error);
      throw translate(error);
    }
  };

  return {
    semaphore,
    connect,
    async end() {
      const patience = new AbortController();
      const waited = sleep(limits.close, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([semaphore.close(), waited]);
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
