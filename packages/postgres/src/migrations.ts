import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** One step of a schema: its name (`0001_accounts.sql`) and its SQL. */
export interface Migration {
  name: string;
  text: string;
}

/** Where a service's migrations are. The outbox, which every service has, comes before them by itself. */
export interface MigrationSource {
  /** Folders of packages that the service uses, by the name that stands before their migrations. They come after the outbox. */
  packages?: Readonly<Record<string, URL>>;
  /** A folder of `NNNN_name.sql` files. */
  directory?: string | URL;
  /** Migrations given as they are, instead of or after those of `directory`. */
  files?: readonly Migration[];
}

/** The schema in the database and the files at hand disagree, and going on would make it worse. */
export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationRefused";
  }
}

/** The folder of the migrations that every service has: the outbox. `migrate` applies them first, by itself. */
export const outboxMigration: URL = new URL("./migrations/", import.meta.url);

const fileName = /^\d{4}_[a-z0-9_]+\.sql$/;

/**
 * All migrations at hand in their order, those of packages with the package's name before theirs: `outbox/0001_outbox.sql`.
 * @throws MigrationRefused for a file with a name of another form
 */
export async function readMigrations({ packages = {}, directory, files = [] }: MigrationSource): Promise<Migration[]> {
  const folders = Object.entries({ outbox: outboxMigration, ...packages }).map(async ([name, folder]) =>
    (await readFolder(folder)).map((each) => ({ ...each, name: `${name}/${each.name}` })),
  );
  const own = [...(directory === undefined ? [] : await readFolder(directory)), ...files];
  return [...(await Promise.all(folders)).flat(), ...own];
}

async function readFolder(directory: string | URL): Promise<Migration[]> {
  const folder = typeof directory === "string" ? directory : fileURLToPath(directory);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const odd = names.find((name) => !fileName.test(name));
  if (odd !== undefined) throw new MigrationRefused(`${odd}: a migration is named NNNN_name.sql`);
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(`${folder}/${name}`, "utf8") })));
}
