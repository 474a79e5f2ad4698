import { migrate } from "@coffer/postgres";
import { prepareDatabase, type SchemaOwner, type Store, writeDatabase } from "@coffer/stores";
import type { ServiceMigration } from "../services/services.ts";
import type { OpenedBackup } from "./backup-file.ts";
import { databaseAddress, databaseName } from "./owned-postgres.ts";

export interface Filling extends Pick<OpenedBackup, "header" | "items"> {
  /** The services whose data the backup has. */
  services: readonly ServiceMigration[];
  owners: readonly SchemaOwner[];
}

/**
 * Restores a backup into a server without a database of Coffer. Throws CopyRefused, and the errors
 * of `pg`.
 */
export async function fillPostgres(store: Store, { header, items, services, owners }: Filling): Promise<void> {
  const { urls } = await prepareDatabase({
    url: store.url,
    database: databaseName,
    owners,
    extensions: ["pg_trgm"],
  });
  // The schema of the backup's time; the next start applies later migrations.
  for (const { schema, migrations } of services)
    await migrate({
      ...migrations,
      url: urls[schema] ?? "",
      schema,
      only: new Set(Object.keys(header.migrations[schema] ?? {})),
    });
  const schemas = services.map(({ schema }) => schema);
  await writeDatabase(databaseAddress(store), schemas, items());
}
