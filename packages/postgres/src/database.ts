import type { ServiceError } from "@coffer/errors";
import type { Metrics, Telemetry } from "@coffer/telemetry";
import type pg from "pg";
import { z } from "zod";
import { takeAnnounced } from "./commit-topics.ts";
import { byKey, connectionConfig } from "./connection.ts";
import { QueryFailure } from "./failure.ts";
import type { Grouped } from "./grouped.ts";
import { createPipelinedConnection, type PipelinedConnection, shortStatements } from "./pipelined-connection.ts";
import { createStatementPool } from "./pool.ts";
import { type PreparedEach, prepareEach } from "./prepared-each.ts";
import { leastBusy, prepare, type Prepared, sharedWrite } from "./prepared.ts";
import type { Semaphore } from "./semaphore.ts";
import { type Queryable, sql, type Transaction } from "./sql.ts";
import { createWriteCheck, probeSettings, type WriteCheck, type WriteState } from "./write-check.ts";

/**
 * A service's own schema in Postgres. Functions throw ServiceError `unavailable` (Postgres is away,
 * overloaded or full) or QueryFailure (the statement was refused).
 */
export interface Database {
  /** For reads outside a transaction, one statement each. */
  readonly pool: Queryable;
  /**
   * Runs `work` in a transaction (read committed). Retries up to three times after a deadlock or a
   * serialization failure, so `work` must have no other side effects.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * A read as a named prepared statement, for a hot path, without row checks. Reads share pipelined
   * connections, so it must be short and must not lock. Each name has one text within the service.
   */
  prepared<Row>(name: string, text: string): Prepared<Row>;
  /**
   * A batched read for a hot path: `text` takes each value as an array over the callers, and
   * returns at most one row for each with its position from 1 as `n` (`unnest($1::uuid[],
   * $2::text[]) WITH ORDINALITY AS requested (id, uid, n)`).
   */
  preparedEach<Row>(name: string, text: string): PreparedEach<Row>;
  /**
   * As `prepared`, for a short write that commits by itself, on separate connections. A long lock
   * wait would block the writes behind it (see `briefly`). Whenever it returns a row, the listeners of
   * `onCommit` receive the topic `announces`.
   */
  preparedWrite<Row = never>(name: string, text: string, options?: { announces?: string }): Prepared<Row>;
  /**
   * As `preparedEach`, for a write under the conditions of `preparedWrite`: concurrent calls share
   * one statement and its commit. If one of them is refused or hits a lock timeout, nothing is
   * written and each is retried alone.
   */
  preparedWriteEach<Row>(name: string, text: string, options?: { announces?: string }): PreparedEach<Row>;
  /** A separate connection for background work, opened at first use. The caller closes it. */
  pipelinedConnection(): PipelinedConnection;
  readonly telemetry: Telemetry;
  /** Throws if Postgres does not answer. */
  ready(): Promise<void>;
  /**
   * Whether Postgres takes writes: it may answer reads while its disk is full. Throws ServiceError
   * `unavailable` if it is away.
   */
  writeState(): Promise<WriteState>;
  /** Waits at most 5 s for running work, then closes every connection. */
  close(): Promise<void>;
  /** Calls `listener` after each commit that announces topics (see `announceAtCommit`). */
  onCommit(listener: (topics: ReadonlySet<string>) => void): void;
}

export interface DatabaseOptions {
  /** `postgresql://…`, as `pg` reads it. */
  url: string;
  schema: string;
  /**
   * Connections for transactions and single statements. Default: 8. Hot paths use six more, the
   * relay one per lane.
   */
  poolSize?: number;
  telemetry: Telemetry;
  /** Postgres settings of every connection, by name. */
  settings?: Readonly<Record<string, string>>;
  /** The error for a violated constraint, by its name, for every write. */
  refusals?: Readonly<Record<string, () => ServiceError>>;
}

/** Concurrent runs of one batched write: one may wait for a lock while another proceeds. */
const writesAtOnce = 2;

/** Connects at the first statement, and reconnects. */
export function createDatabase({
  url,
  schema,
  poolSize = 8,
  telemetry,
  settings,
  refusals = {},
}: DatabaseOptions): Database {
  const config = connectionConfig(url, schema, telemetry.service, settings);
  const probeConfig = connectionConfig(url, schema, telemetry.service, { ...settings, ...probeSettings });
  const probe = createPipelinedConnection(shortStatements(probeConfig));
  const writeCheck = createWriteCheck(probe);
  const pool = createStatementPool(config, poolSize, writeCheck.note);
  const pipelined = (of: pg.ClientConfig) => createPipelinedConnection(of, writeCheck.note);
  const reads = [pipelined(shortStatements(config)), pipelined(shortStatements(config))] as const;
  const writeConnection = () => pipelined(byKey(shortStatements(config)));
  const writes = [writeConnection(), writeConnection(), writeConnection(), writeConnection()] as const;
  const listeners: ((topics: ReadonlySet<string>) => void)[] = [];
  const groups: Pick<Grouped<never, never>, "waiting">[] = [];
  observePools(telemetry.metrics, { semaphore: pool.semaphore, pipelined: [...reads, ...writes], groups });
  observeWrites(telemetry.metrics, writeCheck);

  const preparedWrite: Database["preparedWrite"] = (name, text, { announces } = {}) => {
    const write = prepare<never>(writes, leastBusy, { name, text });
    if (announces === undefined) return write;
    const topics = new Set([announces]);
    return async (values) => {
      const rows = await write(values);
      if (rows.length > 0) for (const listener of listeners) listener(topics);
      return rows;
    };
  };

  /** A batched statement whose waiting calls are counted. */
  const each = <Row>(statement: Prepared<Row & { n: number }>, atOnce: number): PreparedEach<Row> => {
    const group = prepareEach<Row>(statement, atOnce);
    groups.push(group);
    return group;
  };

  const refuse = (error: unknown): never => {
    const refusal = error instanceof QueryFailure ? refusals[error.constraint ?? ""] : undefined;
    throw refusal === undefined ? error : refusal();
  };

  return {
    pool,
    async transaction(work) {
      const attempt = pool.connect((connection) =>
        connection.transaction(async (tx) => {
          try {
            const done = await work(tx);
            return { result: done, announced: takeAnnounced(tx.transactionId) };
          } finally {
            takeAnnounced(tx.transactionId);
          }
        }),
      );
      const { result, announced } = await attempt.catch(refuse);
      if (announced.size > 0) for (const listener of listeners) listener(announced);
      return result;
    },
    prepared: (name, text) => prepare(reads, sharedWrite, { name, text }),
    preparedEach: <Row>(name: string, text: string) =>
      each<Row>(prepare<Row & { n: number }>(reads, leastBusy, { name, text }), reads.length),
    preparedWrite,
    preparedWriteEach: <Row>(name: string, text: string, options?: { announces?: string }) => {
      const write = each<Row>(preparedWrite<Row & { n: number }>(name, text, options), writesAtOnce);
      return (values) => write(values).catch(refuse);
    },
    pipelinedConnection: () => pipelined(byKey(config)),
    telemetry,
    writeState: writeCheck.state,
    async ready() {
      await pool.one(sql.type(z.object({ answer: z.literal(1) }))`select 1 as answer`);
    },
    async close() {
      await Promise.all([pool.end(), ...[...reads, ...writes, probe].map((connection) => connection.close())]);
    },
    onCommit: (listener) => void listeners.push(listener),
  };
}

/** Reports whether Postgres accepts writes: it may be away, full or read-only. */
function observeWrites(metrics: Metrics, { state }: WriteCheck): void {
  const writable = metrics.gauge("coffer_db_writable", "1 while Postgres takes writes, 0 while it does not or is away");
  writable.set(1);
  writable.collect(async () => {
    const isOk = await state().then(
      (found) => found === "ok",
      () => false,
    );
    // A Postgres that hangs is noticed after the scrape: the next one has it.
    writable.set(isOk ? 1 : 0);
  });
}

interface Pools {
  semaphore: Semaphore;
  pipelined: readonly PipelinedConnection[];
  /** The batched statements, whose calls wait for a batch and not for a connection. */
  groups: readonly Pick<Grouped<never, never>, "waiting">[];
}

/** Reports the use of the connections for transactions and for prepared statements. */
function observePools(metrics: Metrics, { semaphore, pipelined, groups }: Pools): void {
  const inUse = metrics.gauge("coffer_db_pool_in_use", "Database connections in use", ["pool"]);
  const waiting = metrics.gauge("coffer_db_pool_waiting", "Callers that wait for a database connection", ["pool"]);
  inUse.collect(() => {
    inUse.set(semaphore.inUse, { pool: "transactions" });
    inUse.set(pipelined.filter(({ pending }) => pending > 0).length, { pool: "prepared" });
  });
  waiting.collect(() => {
    waiting.set(semaphore.waiting, { pool: "transactions" });
    const sent = pipelined.reduce((sum, { pending }) => sum + Math.max(0, pending - 1), 0);
    const unsent = groups.reduce((sum, group) => sum + group.waiting(), 0);
    waiting.set(sent + unsent, { pool: "prepared" });
  });
}
