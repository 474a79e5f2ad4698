import type pg from "pg";
import { type Migration, separateStatements } from "../src/migrations.ts";

/** Modes of table locks that make writes wait. */
const blocksWrites = ["ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"];
/** What may run without a transaction: it makes no write wait for its whole duration. */
const harmless = /\bCONCURRENTLY\b|\bVALIDATE CONSTRAINT\b/i;

interface TableState {
  name: string;
  /** The file of its rows: another one after a rewrite. */
  file: string;
  scans: number;
  /** The strongest locks of this transaction. */
  modes: string[];
}

/**
 * Applies the migrations to the schema `schema`, which must be the connection's `search_path`, and
 * returns what would hold up writes of a large table for as long as its rows are read or rewritten.
 * It asks Postgres instead of reading SQL: after each migration, still in its transaction, Postgres
 * knows which older tables it has locked, scanned and rewritten. The tables are empty, so this
 * takes no time.
 */
export async function findBlocking(client: pg.Client, schema: string, migrations: readonly Migration[]) {
  const found: string[] = [];
  for (const { name, text } of migrations) {
    const statements = separateStatements(text);
    if (statements !== null) {
      for (const statement of statements) {
        if (!harmless.test(statement)) found.push(`${name}: without a transaction: ${statement}`);
        await client.query(statement);
      }
      continue;
    }
    await client.query("begin");
    const before = await tablesOf(client, schema);
    await client.query(text);
    const after = await tablesOf(client, schema);
    await client.query("commit");
    for (const [oid, { name: table, file, scans }] of before) {
      const now = after.get(oid);
      if (now === undefined) continue;
      const isScanned = now.scans > scans;
      if (now.file !== file) found.push(`${name}: rewrites ${table}`);
      else if (isScanned && now.modes.some((mode) => blocksWrites.includes(mode)))
        found.push(`${name}: reads every row of ${table} while writes wait`);
      else if (isScanned && now.modes.includes("RowExclusiveLock"))
        found.push(`${name}: changes rows of ${table} by a scan`);
    }
  }
  return found;
}

async function tablesOf(client: pg.Client, schema: string): Promise<Map<string, TableState>> {
  const { rows } = await client.query<TableState & { oid: string }>(
    `select c.oid::text as oid, c.relname as name, pg_relation_filenode(c.oid)::text as file,
       coalesce(s.seq_scan, 0)::int as scans,
       array(select l.mode from pg_locks l where l.relation = c.oid and l.pid = pg_backend_pid()) as modes
     from pg_class c left join pg_stat_xact_all_tables s on s.relid = c.oid
     where c.relnamespace = $1::regnamespace and c.relkind = 'r' order by c.relname`,
    [schema],
  );
  return new Map(rows.map(({ oid, ...state }) => [oid, state]));
}
