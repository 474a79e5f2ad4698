import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** One step of a schema: its name (`0001_accounts.sql`) and its SQL. */
export interface Migration {
  name: string;
  text: string;
}

/** The migrations of a service. */
export interface MigrationSource {
  /**
   * Folders of packages, by the prefix of their migrations. They are applied in this order, before
   * all others.
   */
  packages?: Readonly<Record<string, URL>>;
  /** A folder of `NNNN_name.sql` files. */
  directory?: string | URL;
  /** Further migrations, after those of `directory`. */
  files?: readonly Migration[];
}

/** The database and the migration files disagree. */
export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationRefused";
  }
}

const fileName = /^\d{4}_[a-z0-9_]+\.sql$/;

/**
 * All migrations in order, with the prefix of their package: `usage/0001_usage.sql`.
 * @throws MigrationRefused for an invalid file name
 */
export async function readMigrations({ packages = {}, directory, files = [] }: MigrationSource): Promise<Migration[]> {
  const folders = Object.entries(packages).map(async ([name, folder]) =>
    (await readFolder(folder)).map((each) => ({ ...each, name: `${name}/${each.name}` })),
  );
  const own = [...(directory === undefined ? [] : await readFolder(directory)), ...files];
  return [...(await Promise.all(folders)).flat(), ...own];
}

/**
 * The statements of a migration that begins with the line `-- without transaction`; null for any
 * other. Each ends with a semicolon at the end of a line, and is committed alone: a run that was
 * interrupted repeats all of them.
 */
export function separateStatements(text: string): string[] | null {
  const [first, ...lines] = text.split(/\r?\n/);
  if (first !== "-- without transaction") return null;
  const statements = lines
    .filter((line) => !line.startsWith("--"))
    .join("\n")
    .split(/;$/m);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}

async function readFolder(directory: string | URL): Promise<Migration[]> {
  const folder = typeof directory === "string" ? directory : fileURLToPath(directory);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const odd = names.find((name) => !fileName.test(name));
  if (odd !== undefined) throw new MigrationRefused(`${odd}: a migration is named NNNN_name.sql`);
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(`${folder}/${name}`, "utf8") })));
}
