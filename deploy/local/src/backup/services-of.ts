import { migrationChecksums } from "@coffer/postgres";
import { dataFormat } from "../data/installation.ts";
import { allServices, loadMigration, presentServices, type ServiceMigration } from "../services/services.ts";
import { StartupError } from "../startup-error.ts";
import type { BackupHeader } from "./backup-file.ts";

/** The services whose data a backup holds. Throws StartupError for one of another version. */
export async function servicesOf(header: BackupHeader, file: string): Promise<ServiceMigration[]> {
  const other = (what: string): StartupError =>
    new StartupError(
      `${file} was made by another version of Coffer (${header.version}): ${what}; restore it with that version`,
    );
  if (header.data_format !== dataFormat) throw other(`its data has format ${header.data_format}, not ${dataFormat}`);
  const present = new Set(presentServices().map(({ schema }) => schema));
  const services: ServiceMigration[] = [];
  for (const [schema, migrations] of Object.entries(header.migrations)) {
    const row = allServices.find((each) => each.schema === schema);
    if (row === undefined || !present.has(schema)) throw other(`this one has no schema ${schema}`);
    const loaded = await loadMigration(row);
    const known = await migrationChecksums(loaded.migrations);
    const odd = Object.entries(migrations).find(([name, checksum]) => known.get(name) !== checksum);
    if (odd !== undefined) throw other(`this one has no such migration ${odd[0]} of ${schema}`);
    services.push(loaded);
  }
  return services;
}
