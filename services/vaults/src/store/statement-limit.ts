import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** From here on no statement of the transaction waits longer than this for a lock. */
export async function limitWaits(tx: Queryable, milliseconds: number): Promise<void> {
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config('lock_timeout', ${`${milliseconds}ms`}, true)
  `);
}

/** From here on each statement of the transaction takes no longer than this, its waiting for locks included. */
export async function limitStatements(tx: Queryable, milliseconds: number): Promise<void> {
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config('statement_timeout', ${atLeastOne(milliseconds)}, true)
  `);
}

/**
 * The same, and between two statements, or before the commit, no longer passes either: who is held up meanwhile finds
 * the transaction undone and the connection closed.
 */
export async function limitRest(tx: Queryable, milliseconds: number): Promise<void> {
  const most = atLeastOne(milliseconds);
  await tx.query(sql.type(z.object({ statement: z.string(), idle: z.string() }))`
    SELECT set_config('statement_timeout', ${most}, true) AS statement,
      set_config('idle_in_transaction_session_timeout', ${most}, true) AS idle
  `);
}

/** As Postgres reads it; 0 would be no limit at all. */
function atLeastOne(milliseconds: number): string {
  return `${Math.max(1, Math.ceil(milliseconds))}ms`;
}
