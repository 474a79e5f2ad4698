import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import { type Database, isUnavailable, prepareEach, type Queryable, type Transaction } from "@coffer/postgres";
import type { Random } from "@coffer/testkit";
import type pg from "pg";

const statements = new Set<string | symbol>([
  "any",
  "anyFirst",
  "exists",
  "many",
  "manyFirst",
  "maybeOne",
  "maybeOneFirst",
  "one",
  "oneFirst",
  "query",
]);

/** The same connection, with changed texts of statements. */
function rewritten<Db extends Queryable>(db: Db, text: (sql: string) => string): Db {
  return new Proxy(db, {
    get(target, property) {
      const found: unknown = Reflect.get(target, property);
      if (!statements.has(property) || typeof found !== "function") return found;
      return (query: { sql: string }) => Reflect.apply(found, target, [{ ...query, sql: text(query.sql) }]) as unknown;
    },
  });
}

/** The error of a statement whose connection has ended, as the service's own database reports it. */
function unavailableWhenEnded(error: unknown): unknown {
  return isUnavailable(error) ? new ServiceError("unavailable", "the connection was ended by the test") : error;
}

export interface Unsteadiness {
  random: Random;
  /** Changes the text of a statement. */
  text: (sql: string) => string;
  /** Connections for writes that commit by themselves: here they get a transaction of random length. */
  connections: pg.Pool;
}

/**
 * A database whose writes pause between their last statement and the commit, and sometimes roll
 * back: they end in another order than they began.
 */
export function unsteadyDatabase(database: Database, { random, text, connections }: Unsteadiness): Database {
  const stall = async (): Promise<void> => {
    if (random.chance(0.6)) await pause(random.below(random.chance(0.1) ? 150 : 25));
    if (random.chance(0.07)) throw new ServiceError("unavailable", "rolled back by the test");
  };
  const preparedWrite =
    <Row>(_name: string, statement: string) =>
    async (values: unknown[]): Promise<Row[]> => {
      const sent = text(statement);
      const connection = await connections.connect().catch((error: unknown) => {
        // The replica was killed while it connected.
        throw unavailableWhenEnded(error);
      });
      try {
        await connection.query("BEGIN");
        const { rows } = await connection.query(sent, values);
        await stall();
        await connection.query("COMMIT");
        connection.release();
        return rows as Row[]; // as the caller of a prepared statement says
      } catch (error) {
        connection.release(true);
        throw unavailableWhenEnded(error);
      }
    };
  return {
    ...database,
    pool: rewritten(database.pool, text),
    transaction: (work) =>
      database.transaction(async (tx: Transaction) => {
        const result = await work(rewritten(tx, text));
        await stall();
        return result;
      }),
    preparedWrite,
    preparedWriteEach: <Row>(name: string, text: string) =>
      prepareEach(preparedWrite<Row & { n: number }>(name, text), 2),
  };
}
