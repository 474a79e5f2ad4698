import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The result of a drill. Times are ISO 8601. `problem` is null when it succeeded. */
export interface DrillResult {
  ended_at: string;
  backup_at: string;
  seconds: number;
  chains: number;
  records: number;
  rows: number;
  problem: string | null;
}

const result = z.object({
  ended_at: z.string(),
  backup_at: z.string(),
  seconds: z.number(),
  chains: z.number(),
  records: z.number(),
  rows: z.number(),
  problem: z.string().nullable(),
});

/** The number of stored results: half a year of weekly drills. */
const keptResults = 26;

/** Stores a result, and deletes the oldest ones. */
export async function addDrill(db: Queryable, drill: DrillResult): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO restore_drills (ended_at, backup_at, seconds, chains, records, rows, problem)
    VALUES (${drill.ended_at}::timestamptz, ${drill.backup_at}::timestamptz, ${drill.seconds}::float8, ${drill.chains},
      ${drill.records}, ${drill.rows}, ${drill.problem})
  `);
  // The newest success stays, however many failures came after it: the metrics show it.
  await db.query(sql.typeAlias("void")`
    DELETE FROM restore_drills
    WHERE id <= (SELECT max(id) FROM restore_drills) - ${keptResults}
      AND id IS DISTINCT FROM (SELECT max(id) FROM restore_drills WHERE problem IS NULL)
  `);
}

/** The newest result; with `succeeded` the newest of those that succeeded. */
export function findDrill(db: Queryable, { succeeded }: { succeeded: boolean }): Promise<DrillResult | null> {
  return db.maybeOne(sql.type(result)`
    SELECT ended_at, backup_at, seconds, chains, records, rows, problem FROM restore_drills
    ${succeeded ? sql.fragment`WHERE problem IS NULL` : sql.fragment``} ORDER BY id DESC LIMIT 1
  `);
}
