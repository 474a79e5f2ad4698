import type { Telemetry } from "@coffer/telemetry";
import { connectionConfig } from "./connection.ts";
import { takeWritten } from "./enqueue.ts";
import { createHotPool, prepare } from "./hot-pool.ts";
import type { Prepared } from "./hot-pool.ts";
import { createStatementPool } from "./pool.ts";
import { sql } from "./sql.ts";
import type { Queryable, Transaction } from "./sql.ts";
import { z } from "zod";

/** A service's own schema in Postgres. Errors are those of `translate`: `unavailable`, or a QueryFailure. */
export interface Database {
  /** For reads outside a transaction, one statement each. */
  readonly pool: Queryable;
  /**
   * Runs `work` in a transaction (read committed): commits when it returns, rolls back when it throws. Runs it again, up
   * to three times, when Postgres asks for that (deadlock, serialization), so `work` must not do anything elsewhere.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A named prepared statement of `pg`, for a hot path; its rows are not checked. */
  prepared<Row>(name: string, text: string): Prepared<Row>;
  /** Resolves when Postgres answers, else throws. */
  ready(): Promise<void>;
  /** Waits for what runs and closes every connection. */
  close(): Promise<void>;
  /** `listener` is called after each commit that left a message in the outbox. */
  onCommit(listener: () => void): void;
}

/** Of `size` connections in all, those for prepared statements; at least two. */
const hotShare = 0.4;

export interface DatabaseOptions {
  /** `postgresql://…`, as `pg` reads it. */
  url: string;
  schema: string;
  /** Connections that requests share; 10 unless told. The relay has two more of its own. */
  poolSize?: number;
  telemetry: Telemetry;
}

/** Connects when the first statement needs it; Postgres may be away until then, and come and go later. */
export function createDatabase({ url, schema, poolSize = 10, telemetry }: DatabaseOptions): Database {
  const config = connectionConfig(url, schema, telemetry.service);
  const hotSize = Math.max(2, Math.round(poolSize * hotShare));
  const pool = createStatementPool(config, Math.max(2, poolSize - hotSize));
  const hot = createHotPool(config, hotSize);
  const listeners: (() => void)[] = [];

  return {
    pool,
    async transaction(work) {
      const { result, wrote } = await pool.connect((connection) =>
        connection.transaction(async (tx) => {
          try {
            const done = await work(tx);
            return { result: done, wrote: takeWritten(tx.transactionId) };
          } finally {
            takeWritten(tx.transactionId);
          }
        }),
      );
      if (wrote) for (const listener of listeners) listener();
      return result;
    },
    prepared: (name, text) => prepare(hot, name, text),
    async ready() {
      await pool.one(sql.type(z.object({ answer: z.literal(1) }))`select 1 as answer`);
    },
    async close() {
      await Promise.all([pool.end(), hot.end()]);
    },
    onCommit: (listener) => void listeners.push(listener),
  };
}
