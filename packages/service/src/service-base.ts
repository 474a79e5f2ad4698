import type { Database, MigrationSource } from "@coffer/postgres";
import { createDatabase, createMigrationCheck } from "@coffer/postgres";
import type { BaseConfig } from "./service-config.ts";
import type { StatelessBase, StatelessBaseOptions } from "./stateless-base.ts";
import { createStatelessBase } from "./stateless-base.ts";

export interface ServiceBaseOptions<Config extends BaseConfig> extends StatelessBaseOptions<Config> {
  /** The service's own in Postgres, and what makes it. */
  schema: string;
  migrations: MigrationSource;
}

/** What every other service stands on. */
export interface ServiceBase<Config extends BaseConfig = BaseConfig> extends StatelessBase<Config> {
  readonly database: Database;
  /** Whether the schema is as the migrations make it. Throws while Postgres is away. */
  isMigrated(): Promise<boolean>;
}

/** Makes what every other service stands on. `buildService` ends it. */
export function createServiceBase<Config extends BaseConfig>(options: ServiceBaseOptions<Config>): ServiceBase<Config> {
  const { config, schema, migrations } = options;
  const base = createStatelessBase(options);
  const database = createDatabase({ url: config.stores.postgresUrl, schema, telemetry: base.telemetry });
  return { ...base, database, isMigrated: createMigrationCheck(database.pool, migrations) };
}
