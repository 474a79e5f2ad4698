import { ServiceError } from "@coffer/errors";
import { MigrationRefused, QueryFailure } from "@coffer/postgres";
import { loadMigration, type ServiceRow } from "../services/services.ts";
import { StartupError } from "../startup-error.ts";

export interface MigrateAllOptions {
  rows: readonly ServiceRow[];
  /** The URL of each service's own role, by schema. */
  postgresUrls: Readonly<Record<string, string>>;
  report: (line: string) => void;
}

/** Migrates every schema, one service after the other. Throws StartupError. */
export async function migrateAll({ rows, postgresUrls, report }: MigrateAllOptions): Promise<void> {
  for (const row of rows) {
    if (row.schema === null) continue;
    const { migrateService } = await loadMigration(row);
    const applied = await migrateService({ url: postgresUrls[row.schema] ?? "" }).catch((error: unknown) => {
      throw cannotMigrate(row, error);
    });
    if (applied.length > 0) report(`${row.name}: ${applied.length} migrations applied`);
  }
}

/** An error of a migration as one line; any other error is a bug and stays as it is. */
function cannotMigrate({ name, schema }: ServiceRow, cause: unknown): unknown {
  if (cause instanceof MigrationRefused) {
    const advice = "this is data of another version of Coffer: go on with that one, or restore a backup of this one's";
    return new StartupError(`${name}: ${cause.message}. If you changed nothing, ${advice}`, { cause });
  }
  if (cause instanceof QueryFailure || cause instanceof ServiceError) {
    const reason = cause instanceof ServiceError ? (reasonOf(cause) ?? cause.message) : cause.message;
    return new StartupError(`${name}: its schema ${schema ?? ""} cannot be brought up to date: ${reason}`, { cause });
  }
  return cause;
}

function reasonOf({ cause }: Error): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}
