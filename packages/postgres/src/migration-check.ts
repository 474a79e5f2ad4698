import { z } from "zod";
import { isMissingTable } from "./failure.ts";
import { type MigrationSource, readMigrations } from "./migrations.ts";
import { type Queryable, sql } from "./sql.ts";

/**
 * Makes the check that every migration file is applied to the schema of `db`. Ignores migrations of
 * a newer version. The check throws ServiceError `unavailable` if Postgres is away.
 */
export function createMigrationCheck(db: Queryable, source: MigrationSource): () => Promise<boolean> {
  let names: readonly string[] | undefined;
  return async () => {
    names ??= (await readMigrations(source)).map(({ name }) => name);
    try {
      return await db.oneFirst(sql.type(z.object({ complete: z.boolean() }))`
        SELECT count(*) = ${names.length} AS complete FROM migration WHERE name = ANY (${sql.array(names, "text")})
      `);
    } catch (error) {
      // No migration has run yet.
      if (isMissingTable(error)) return false;
      throw error;
    }
  };
}
