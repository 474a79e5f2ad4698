/** The folder of the migrations that count usage (docs/adr/0018): for `MigrationSource.packages`, by the name `usage`. */
export const usageMigrations: URL = new URL("./migrations/", import.meta.url);
