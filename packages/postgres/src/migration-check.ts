import { z } from "zod";
import { QueryFailure } from "./failure.ts";
import type { MigrationSource } from "./migrations.ts";
import { readMigrations } from "./migrations.ts";
import type { Queryable } from "./sql.ts";
import { sql } from "./sql.ts";

const undefinedTable = "42P01";

/**
 * Makes the check whether every migration at hand has been applied to the schema that `db` works in. Further ones, of a
 * newer version, do not matter. The check throws ServiceError `unavailable` when Postgres is away.
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
      // Nobody has migrated anything yet.
      if (error instanceof QueryFailure && error.code === undefinedTable) return false;
      throw error;
    }
  };
}
