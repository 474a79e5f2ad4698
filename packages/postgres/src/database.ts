import type { ServiceError } from "@coffer/errors";
import type { EventSubject } from "@coffer/events";
import type { Telemetry } from "@coffer/telemetry";
import { z } from "zod";
import { byKey, connectionConfig } from "./connection.ts";
import { laneOf, takeWritten } from "./enqueue.ts";
import { QueryFailure } from "./failure.ts";
import { createLine, shortStatements } from "./line.ts";
import type { Line } from "./line.ts";
import { createStatementPool } from "./pool.ts";
import { observePools } from "./pool-metrics.ts";
import { apart, prepare, together } from "./prepared.ts";
import type { Prepared } from "./prepared.ts";
import { prepareEach } from "./prepared-each.ts";
import type { PreparedEach } from "./prepared-each.ts";
import { sql } from "./sql.ts";
import type { Queryable, Transaction } from "./sql.ts";

/**
 * A service's own schema in Postgres. Whatever goes wrong comes out as a ServiceError `unavailable` (Postgres is away,
 * overloaded or full), or as a QueryFailure (the statement was refused).
 */
export interface Database {
  /** For reads outside a transaction, one statement each. */
  readonly pool: Queryable;
  /**
   * Runs `work` in a transaction (read committed): commits when it returns, rolls back when it throws. Runs it again,
   * up to three times, when Postgres asks for that (deadlock, serialization), so `work` must not do anything elsewhere.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * A read as a named prepared statement, for a hot path; its rows are not checked. Many share a connection in a
   * pipeline, so it must be short and must not lock. One name has one text within the service.
   */
  prepared<Row>(name: string, text: string): Prepared<Row>;
  /**
   * A read for a hot path that answers many callers at once: `text` takes each of their values as an array, `$1` those
   * of the first, and gives at most one row for each with its place from 1 on as `n`
   * (`unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (id, uid, n)`).
   */
  preparedEach<Row>(name: string, text: string): PreparedEach<Row>;
  /**
   * As `prepared`, for a short write that commits by itself, on connections of their own: reads do not wait for its commit.
   * It must not wait for locks that others hold for long, which would hold up the writes behind it (see `briefly`). `leaves` names the
   * event that it leaves in the outbox whenever it returns a row: the relay is told.
   */
  preparedWrite<Row = never>(name: string, text: string, options?: { leaves?: EventSubject<unknown> }): Prepared<Row>;
  /**
   * As `preparedEach` for a write, on the connections of `preparedWrite` and with its conditions: those that are asked
   * together, or while others are under way, are done by one statement and share its commit. When one of them is
   * refused, or waits for a lock in vain, nothing of that is done, and each is asked alone.
   */
  preparedWriteEach<Row>(name: string, text: string, options?: { leaves?: EventSubject<unknown> }): PreparedEach<Row>;
  /** A further connection for work in the background, opened at first use. Whoever takes it closes it. */
  line(): Line;
  readonly telemetry: Telemetry;
  /** Resolves when Postgres answers, else throws. */
  ready(): Promise<void>;
  /** Waits for what runs, at most 5 s, and closes every connection. */
  close(): Promise<void>;
  /** `listener` is called after each commit that left a message that is awaited, with the lanes that have one. */
  onCommit(listener: (lanes: ReadonlySet<string>) => void): void;
}

export interface DatabaseOptions {
  /** `postgresql://…`, as `pg` reads it. */
  url: string;
  schema: string;
  /**
   * Connections for transactions and single statements; 8 unless told. Hot paths have six more, the relay one a lane.
   */
  poolSize?: number;
  telemetry: Telemetry;
  /** Settings of Postgres that every connection has, by name. */
  settings?: Readonly<Record<string, string>>;
  /** What the refusal of a constraint, by its name, means to the caller of any write in a transaction or prepared statement. */
  refusals?: Readonly<Record<string, () => ServiceError>>;
}

/** Of one prepared write that many share: while one waits for a lock there is another for those who come meanwhile. */
const writesAtOnce = 2;

/** Connects when the first statement needs it; Postgres may be away until then, and come and go later. */
export function createDatabase({
  url,
  schema,
  poolSize = 8,
  telemetry,
  settings,
  refusals = {},
}: DatabaseOptions): Database {
  const config = connectionConfig(url, schema, telemetry.service, settings);
  const pool = createStatementPool(config, poolSize);
  const reads = [createLine(shortStatements(config)), createLine(shortStatements(config))] as const;
  const writeLine = () => createLine(byKey(shortStatements(config)));
  const writes = [writeLine(), writeLine(), writeLine(), writeLine()] as const;
  const listeners: ((lanes: ReadonlySet<string>) => void)[] = [];
  observePools(telemetry.metrics, pool.gate, [...reads, ...writes]);

  const preparedWrite: Database["preparedWrite"] = (name, text, { leaves } = {}) => {
    const write = prepare<never>(writes, apart, { name, text });
    if (leaves === undefined) return write;
    const lanes = new Set([laneOf(leaves)]);
    return async (values) => {
      const rows = await write(values);
      if (rows.length > 0) for (const listener of listeners) listener(lanes);
      return rows;
    };
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
            return { result: done, wrote: takeWritten(tx.transactionId) };
          } finally {
            takeWritten(tx.transactionId);
          }
        }),
      );
      const { result, wrote } = await attempt.catch(refuse);
      if (wrote.size > 0) for (const listener of listeners) listener(wrote);
      return result;
    },
    prepared: (name, text) => prepare(reads, together, { name, text }),
    preparedEach: <Row>(name: string, text: string) =>
      prepareEach(prepare<Row & { n: number }>(reads, apart, { name, text }), reads.length),
    preparedWrite,
    preparedWriteEach: <Row>(name: string, text: string, options?: { leaves?: EventSubject<unknown> }) => {
      const write = prepareEach(preparedWrite<Row & { n: number }>(name, text, options), writesAtOnce);
      return (values) => write(values).catch(refuse);
    },
    line: () => createLine(byKey(config)),
    telemetry,
    async ready() {
      await pool.one(sql.type(z.object({ answer: z.literal(1) }))`select 1 as answer`);
    },
    async close() {
      await Promise.all([pool.end(), ...[...reads, ...writes].map((line) => line.close())]);
    },
    onCommit: (listener) => void listeners.push(listener),
  };
}
