import { outboxMigrations } from "@coffer/outbox";
import { migrate, type MigrationSource } from "@coffer/postgres";
import { usageMigrations } from "@coffer/quota";

export const schema = "vaults";

export const migrations: MigrationSource = {
  packages: { outbox: outboxMigrations, usage: usageMigrations },
  directory: new URL("./migrations/", import.meta.url),
};

/**
 * Brings the service's schema up to date. `url` is that of the service's own role.
 * @returns the names of the migrations that were applied now
 * @throws MigrationRefused, and ServiceError `unavailable` when Postgres is away
 */
export function migrateService({ url }: { url: string }): Promise<string[]> {
  return migrate({ url, schema, ...migrations });
}
