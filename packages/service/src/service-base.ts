import {
  createDatabase,
  createMigrationCheck,
  type Database,
  type DatabaseOptions,
  type MigrationSource,
} from "@coffer/postgres";
import type { Telemetry } from "@coffer/telemetry";
import type { BaseConfig } from "./service-config.ts";
import { createStatelessBase, type StatelessBase, type StatelessBaseOptions } from "./stateless-base.ts";

export interface ServiceBaseOptions<Config extends BaseConfig> extends StatelessBaseOptions<Config> {
  /** The service's own schema in Postgres. */
  schema: string;
  migrations: MigrationSource;
  /** Service-specific settings of its connections. */
  connections?: (telemetry: Telemetry) => Pick<DatabaseOptions, "refusals" | "settings">;
}

/** The base of a service with Postgres. */
export interface ServiceBase<Config extends BaseConfig = BaseConfig> extends StatelessBase<Config> {
  readonly database: Database;
  /** Whether all migrations are applied. Throws while Postgres is away. */
  isMigrated(): Promise<boolean>;
}

/** Makes the base of a service with Postgres. `buildService` closes it. */
export function createServiceBase<Config extends BaseConfig>(options: ServiceBaseOptions<Config>): ServiceBase<Config> {
  const { config, schema, migrations, connections } = options;
  const base = createStatelessBase(options);
  const { telemetry } = base;
  const url = config.stores.postgresUrl;
  const database = createDatabase({ url, schema, telemetry, ...connections?.(telemetry) });
  return { ...base, database, isMigrated: createMigrationCheck(database.pool, migrations) };
}
