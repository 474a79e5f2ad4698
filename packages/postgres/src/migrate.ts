import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "@coffer/errors";
import pg from "pg";
import { connectionConfig } from "./connection.ts";
import { ConnectionFailure, translate } from "./failure.ts";
import {
  type Migration,
  MigrationRefused,
  type MigrationSource,
  readMigrations,
  separateStatements,
} from "./migrations.ts";

export interface MigrateOptions extends MigrationSource {
  url: string;
  schema: string;
  /** The names to apply, with the prefix of their package. Default: all. */
  only?: ReadonlySet<string> | undefined;
}

/** An arbitrary number, the same for every migrator. */
const lockClass = 0x0c0ffe;
const mostWaitMilliseconds = 120_000;
const betweenAttemptsMilliseconds = 100;

/**
 * Brings `schema` up to date and returns the names of the applied migrations, with the prefix of
 * their package. Each file runs in its own transaction, forward only, except for one that begins
 * with `-- without transaction`; concurrent runs wait for a lock. Applied migrations without a file
 * belong to a newer version and are ignored.
 *
 * Throws MigrationRefused if an applied file has changed, or a new one comes before an applied one;
 * ServiceError `unavailable` if Postgres is away; QueryFailure if a file's SQL is refused (the file
 * is rolled back).
 */
export async function migrate({ url, schema, only, ...source }: MigrateOptions): Promise<string[]> {
  const all = (await readMigrations(source)).filter(({ name }) => only?.has(name) ?? true);
  const config = connectionConfig(url, schema, `${schema} migrate`);
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

/** The checksum of each migration file, by name. */
export async function migrationChecksums(source: MigrationSource): Promise<Map<string, string>> {
  return new Map((await readMigrations(source)).map(({ name, text }) => [name, checksumOf(text)]));
}

/** The checksums of the applied migrations of a schema, by name. */
export async function appliedChecksums({ url, schema }: Pick<MigrateOptions, "url" | "schema">) {
  const client = new pg.Client(connectionConfig(url, schema, `${schema} migrations`));
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string; checksum: string }>(
      `select name, checksum from ${pg.escapeIdentifier(schema)}.migration`,
    );
    return new Map(rows.map(({ name, checksum }) => [name, checksum]));
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Servers older than 17 have no `transaction_timeout`. */
const withoutBounds =
  "select set_config(name, '0', false) from pg_settings where name in ('statement_timeout', 'transaction_timeout')";

async function apply(client: pg.Client, schema: string, all: readonly Migration[]): Promise<string[]> {
  // An index on a large table takes long: overrides timeouts of the role or the database.
  await client.query(withoutBounds);
  await waitForLock(client, schema);
  await limitLockWaits(client);
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
  await client.query(`create table if not exists migration (
    name text primary key, checksum text not null, applied_at timestamptz not null default now()
  )`);
  const { rows } = await client.query<{ name: string; checksum: string }>("select name, checksum from migration");
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const missing = pending(all, applied);
  for (const migration of missing) await applyOne(client, migration);
  return missing.map(({ name }) => name);
}

/**
 * Takes the lock of the schema's migrators. It polls for the lock: a statement that waits would
 * hold a snapshot, and an index that is built concurrently waits for all older snapshots.
 */
async function waitForLock(client: pg.Client, schema: string): Promise<void> {
  const deadline = performance.now() + mostWaitMilliseconds;
  const attempt = "select pg_try_advisory_lock($1, hashtext($2)) as held";
  for (;;) {
    const { rows } = await client.query<{ held: boolean }>(attempt, [lockClass, schema]);
    if (rows[0]?.held === true) return;
    if (performance.now() > deadline)
      throw new ServiceError(
        "unavailable",
        `another migration of ${schema} has not ended within two minutes; try again`,
      );
    await pause(betweenAttemptsMilliseconds);
  }
}

/** A statement that waits for a table's lock makes all later ones wait. */
const limitLockWaits = (client: pg.Client) => client.query("select set_config('lock_timeout', '10s', false)");

async function applyOne(client: pg.Client, { name, text }: Migration): Promise<void> {
  const record = "insert into migration (name, checksum) values ($1, $2)";
  const statements = separateStatements(text);
  if (statements !== null) {
    // These wait for other transactions, a backup for example, and block none meanwhile.
    await client.query("select set_config('lock_timeout', '0', false)");
    for (const statement of statements) await client.query(statement);
    await client.query(record, [name, checksumOf(text)]);
    await limitLockWaits(client);
    return;
  }
  try {
    await client.query(`begin;\n${text}\n;`);
    await client.query(record, [name, checksumOf(text)]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** The pending migrations. Throws MigrationRefused before any change. */
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
    const late = missing.find(({ name }) => sourceOf(name) === sourceOf(migration.name));
    if (late !== undefined) {
      throw new MigrationRefused(`${late.name} comes before ${migration.name}, which is applied already; renumber it`);
    }
  }
  return missing;
}

/** Migrations are ordered within the service and within each package. */
const sourceOf = (name: string) => (name.includes("/") ? name.slice(0, name.indexOf("/")) : "service");

function checksumOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}
