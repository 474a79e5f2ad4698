import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { connectionConfig } from "./connection.ts";
import { ConnectionFailure, translate } from "./failure.ts";

/** One step of a schema: its name (`0001_accounts.sql`) and its SQL. */
export interface Migration {
  name: string;
  text: string;
}

export interface MigrateOptions {
  url: string;
  schema: string;
  /** A folder of `NNNN_name.sql` files. */
  directory?: string | URL;
  /** Migrations given as they are, instead of or after those of `directory`. */
  files?: readonly Migration[];
}

/** The folder of the migrations that every service has: the outbox. `migrate` applies them first, by itself. */
export const outboxMigration: URL = new URL("./migrations/", import.meta.url);

/** The schema in the database and the files at hand disagree, and going on would make it worse. */
export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MigrationRefused";
  }
}

const fileName = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any number will do, as long as every migrator of every service takes the same. */
const lockClass = 0x0c0ffe;

/**
 * Brings `schema` up to date and returns the names of what was applied now, in order; those of the outbox start with
 * `outbox/`. Each file runs in a transaction of its own, forward only. Several may run at once: they take turns.
 * Migrations that are applied and not at hand belong to a newer version and are left alone.
 *
 * Throws MigrationRefused when an applied file has changed since, or a new one would come before an applied one;
 * ServiceError `unavailable` when Postgres is away; a QueryFailure when a file's SQL is refused (nothing of that file
 * remains).
 */
export async function migrate({ url, schema, directory, files = [] }: MigrateOptions): Promise<string[]> {
  const outbox = await readMigrations(outboxMigration);
  const own = [...(directory === undefined ? [] : await readMigrations(directory)), ...files];
  const all = [...outbox.map(({ name, text }) => ({ name: `outbox/${name}`, text })), ...own];

  const config = connectionConfig(url, schema, `${schema} migrate`);
  // An index on a large table takes the time it takes.
  const client = new pg.Client({ ...config, statement_timeout: 0, query_timeout: 0 });
  client.on("error", () => undefined);
  try {
    await client.connect().catch((error: unknown) => {
      throw new ConnectionFailure(error);
    });
    return await apply(client, schema, all);
  } catch (error) {
    throw translate(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function apply(client: pg.Client, schema: string, all: readonly Migration[]): Promise<string[]> {
  await client.query("select set_config('lock_timeout', '120s', false)");
  await client.query("select pg_advisory_lock($1, hashtext($2))", [lockClass, schema]);
  await client.query("select set_config('lock_timeout', '10s', false)");
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
  await client.query(`create table if not exists migration (
    name text primary key, checksum text not null, applied_at timestamptz not null default now()
  )`);
  const { rows } = await client.query<{ name: string; checksum: string }>("select name, checksum from migration");
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const missing = pending(all, applied);
  for (const { name, text } of missing) {
    try {
      await client.query(`begin;\n${text}\n;`);
      await client.query("insert into migration (name, checksum) values ($1, $2)", [name, checksumOf(text)]);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback").catch(() => undefined);
      throw error;
    }
  }
  return missing.map(({ name }) => name);
}

/** What is not applied yet. Throws MigrationRefused before anything is touched. */
function pending(all: readonly Migration[], applied: ReadonlyMap<string, string>): Migration[] {
  const missing: Migration[] = [];
  for (const migration of all) {
    const checksum = applied.get(migration.name);
    if (checksum === undefined) {
      missing.push(migration);
      continue;
    }
    if (checksum !== checksumOf(migration.text)) {
      throw new MigrationRefused(`${migration.name} has changed since it was applied; add a new migration instead`);
    }
    const late = missing.find(({ name }) => roomOf(name) === roomOf(migration.name));
    if (late !== undefined) {
      throw new MigrationRefused(`${late.name} comes before ${migration.name}, which is applied already; renumber it`);
    }
  }
  return missing;
}

const roomOf = (name: string) => (name.startsWith("outbox/") ? "outbox" : "service");

function checksumOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}

/** The migrations in a folder, in the order of their numbers. Throws MigrationRefused for a name of another form. */
async function readMigrations(directory: string | URL): Promise<Migration[]> {
  const folder = typeof directory === "string" ? directory : fileURLToPath(directory);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const odd = names.find((name) => !fileName.test(name));
  if (odd !== undefined) throw new MigrationRefused(`${odd}: a migration is named NNNN_name.sql`);
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(`${folder}/${name}`, "utf8") })));
}
