import { execFileSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@coffer/stores";
import pg from "pg";

const cluster = (directory: string): string => join(directory, "postgres/data");

/** Copies the files of an installation's Postgres, which must be stopped, with their owner and modes. */
export function copyFiles(directory: string, to: string): void {
  execFileSync("cp", ["-a", cluster(directory), join(to, "data")]);
}

/** Replaces the files by such a copy. Postgres must be stopped. */
export function putFilesBack(directory: string, from: string): void {
  rmSync(cluster(directory), { recursive: true });
  execFileSync("cp", ["-a", join(from, "data"), cluster(directory)]);
}

/** Runs work on the database of a stopped installation. */
export async function whileStopped(directory: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const store = await startPostgres({ directory: join(directory, "postgres") });
  try {
    const address = new URL(store.url);
    address.pathname = "/coffer";
    const client = new pg.Client({ connectionString: address.href });
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  } finally {
    await store.stop();
  }
}

async function namesOf(client: pg.Client, kind: "r" | "S"): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = $1 AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1`,
    [kind],
  );
  return rows.map(({ name }) => name);
}

/** The rest of a dump besides its files. */
export interface Dump {
  tables: readonly string[];
  /** Sets each sequence. */
  sequences: readonly string[];
}

/** Writes the rows of every table of every service to a file each, in one snapshot. */
export async function dump(client: pg.Client, to: string): Promise<Dump> {
  chmodSync(to, 0o777); // the server writes them, as another user
  const [tables, names] = [await namesOf(client, "r"), await namesOf(client, "S")];
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  for (const table of tables) await client.query(`COPY ${table} TO '${join(to, table)}'`);
  const sequences: string[] = [];
  for (const name of names) {
    const { rows } = await client.query<{ set: string }>(
      `SELECT format('SELECT setval(%L, %s, %L)', '${name}', last_value, is_called) AS set FROM ${name}`,
    );
    sequences.push(...rows.map(({ set }) => set));
  }
  await client.query("COMMIT");
  return { tables, sequences };
}

/** Loads a dump into a database with tables and without data. */
export async function load(client: pg.Client, from: string, { tables, sequences }: Dump): Promise<void> {
  await client.query("BEGIN; SET LOCAL session_replication_role = replica");
  await client.query(`TRUNCATE ${tables.join()}`);
  for (const table of tables) await client.query(`COPY ${table} FROM '${join(from, table)}'`);
  for (const set of sequences) await client.query(set);
  await client.query("COMMIT");
}
