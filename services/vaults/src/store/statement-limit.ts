import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** Sets the lock timeout of the transaction. */
export async function limitWaits(tx: Queryable, milliseconds: number): Promise<void> {
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config('lock_timeout', ${`${milliseconds}ms`}, true)
  `);
}

/** Sets the statement timeout of the transaction; it includes waits for locks. */
export async function limitStatements(tx: Queryable, milliseconds: number): Promise<void> {
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config('statement_timeout', ${atLeastOne(milliseconds)}, true)
  `);
}

/**
 * Sets the statement timeout and the idle timeout of the transaction. After an idle timeout,
 * Postgres rolls back and closes the connection.
 */
export async function limitRest(tx: Queryable, milliseconds: number): Promise<void> {
  const most = atLeastOne(milliseconds);
  await tx.query(sql.type(z.object({ statement: z.string(), idle: z.string() }))`
    SELECT set_config('statement_timeout', ${most}, true) AS statement,
      set_config('idle_in_transaction_session_timeout', ${most}, true) AS idle
  `);
}

/** Postgres reads 0 as no limit. */
function atLeastOne(milliseconds: number): string {
  return `${Math.max(1, Math.ceil(milliseconds))}ms`;
}
