/**
 * The migrations of the table `outbox`: for `MigrationSource.packages`, named `outbox`, the first
 * of them.
 */
export const outboxMigrations: URL = new URL("./migrations/", import.meta.url);
