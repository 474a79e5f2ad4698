import type { Database, DatabaseOptions, MigrationSource } from "@coffer/postgres";
import { createDatabase, createMigrationCheck } from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import type { BaseConfig } from "./service-config.ts";
import type { StatelessBase, StatelessBaseOptions } from "./stateless-base.ts";
import { createStatelessBase } from "./stateless-base.ts";

export interface ServiceBaseOptions<Config extends BaseConfig> extends StatelessBaseOptions<Config> {
  /** The service's own in Postgres, and what makes it. */
  schema: string;
  migrations: MigrationSource;
  /** What its connections have beside that. */
  connections?: (telemetry: Telemetry) => Pick<DatabaseOptions, "refusals" | "settings">;
}

/** What every other service stands on. */
export interface ServiceBase<Config extends BaseConfig = BaseConfig> extends StatelessBase<Config> {
  readonly database: Database;
  /** Whether the schema is as the migrations make it. Throws while Postgres is away. */
  isMigrated(): Promise<boolean>;
}

/** Makes what every other service stands on. `buildService` ends it. */
export function createServiceBase<Config extends BaseConfig>(options: ServiceBaseOptions<Config>): ServiceBase<Config> {
  const { config, schema, migrations, connections } = options;
  const base = createStatelessBase(options);
  const { telemetry } = base;
  const url = config.stores.postgresUrl;
  const database = createDatabase({ url, schema, telemetry, ...connections?.(telemetry) });
  return { ...base, database, isMigrated: createMigrationCheck(database.pool, migrations) };
}
