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
  // 0 would be no limit at all.
  const most = Math.max(1, Math.ceil(milliseconds));
  await tx.query(sql.type(z.object({ set_config: z.string() }))`
    SELECT set_config('statement_timeout', ${`${most}ms`}, true)
  `);
}
