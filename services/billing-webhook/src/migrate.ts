import { outboxMigrations } from "@coffer/outbox";
import { migrate, type MigrationSource } from "@coffer/postgres";

/** The service's schema in Postgres. */
export const schema = "billing_webhook";

/** The migrations of that schema. */
export const migrations: MigrationSource = {
  packages: { outbox: outboxMigrations },
  directory: new URL("./migrations/", import.meta.url),
};

/**
 * Migrates the service's schema. `url` connects as the service's own role.
 * @returns the names of the migrations that were applied now
 * @throws MigrationRefused, and ServiceError `unavailable` when Postgres is away
 */
export function migrateService({ url }: { url: string }): Promise<string[]> {
  return migrate({ url, schema, ...migrations });
}
