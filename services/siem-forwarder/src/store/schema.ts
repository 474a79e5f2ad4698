import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Whether the newest table that this version needs is there. */
export function hasSchema(db: Queryable): Promise<boolean> {
  return db.oneFirst(
    sql.type(z.object({ there: z.boolean() }))`SELECT to_regclass('audit_hours') IS NOT NULL AS there`,
  );
}
