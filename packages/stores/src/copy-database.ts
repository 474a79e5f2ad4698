import pg from "pg";

/** A table, a row of it, or the position of a sequence. Rows follow their table. */
export type DatabaseItem =
  | { table: { schema: string; name: string; columns: readonly string[] } }
  /** The row as one value of the table's own type, in Postgres's text form. */
  | { row: string }
  | { sequence: { schema: string; name: string; value: string; isCalled: boolean } };

/** The database does not match the backup. `message` is one line. */
export class CopyRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CopyRefused";
  }
}

const quote = pg.escapeIdentifier;
const rowsAtOnce = 100;
const charactersAtOnce = 1 << 20;

/** Text forms that any server reads as the same values. */
const exactText =
  "SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC';" +
  "SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1";

/**
 * Reads every table and sequence of the schemas in one snapshot. `url` is a superuser's. Throws the
 * errors of `pg`.
 */
export async function* readDatabase(url: string, schemas: readonly string[]): AsyncGenerator<DatabaseItem> {
  const client = await connect(url);
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${exactText}`);
    const { tables, sequences } = await relationsOf(client, schemas);
    for (const table of tables) {
      yield { table };
      await client.query(`DECLARE rows NO SCROLL CURSOR FOR SELECT t::text AS row FROM ${nameOf(table)} AS t`);
      for (;;) {
        const { rows } = await client.query<{ row: string }>(`FETCH ${rowsAtOnce} FROM rows`);
        if (rows.length === 0) break;
        yield* rows;
      }
      await client.query("CLOSE rows");
    }
    for (const { schema, name } of sequences) {
      const { rows } = await client.query<{ value: string; isCalled: boolean }>(
        `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${nameOf({ schema, name })}`,
      );
      for (const state of rows) yield { sequence: { schema, name, ...state } };
    }
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

/**
 * Replaces the content of the tables and sequences of the schemas, all or nothing. The tables must be
 * those of the copy, with the same columns. `url` is a superuser's. Returns the number of rows. Throws
 * CopyRefused, and the errors of `pg`.
 */
export async function writeDatabase(
  url: string,
  schemas: readonly string[],
  items: AsyncIterable<DatabaseItem>,
): Promise<number> {
  const client = await connect(url);
  try {
    await client.query(`BEGIN; ${exactText}; SET LOCAL session_replication_role = replica`);
    const { tables, sequences } = await relationsOf(client, schemas);
    const tablesLeft = new Map(tables.map((table) => [nameOf(table), table]));
    const sequencesLeft = new Set(sequences.map(nameOf));
    if (tables.length > 0) await client.query(`TRUNCATE ${tables.map(nameOf).join()}`);
    let rows = 0;
    let insert = insertInto(client, null);
    for await (const item of items) {
      if ("row" in item) {
        await insert.add(item.row);
        rows += 1;
        continue;
      }
      await insert.end();
      if ("table" in item) {
        const name = nameOf(item.table);
        if (tablesLeft.get(name)?.columns.join() !== item.table.columns.join())
          throw new CopyRefused(`${name} is not a table of this version, or has other columns`);
        tablesLeft.delete(name);
        insert = insertInto(client, name);
      } else {
        const { value, isCalled } = item.sequence;
        const name = nameOf(item.sequence);
        if (!sequencesLeft.delete(name)) throw new CopyRefused(`${name} is not a sequence of this version`);
        await client.query("SELECT setval($1::regclass, $2::bigint, $3)", [name, value, isCalled]);
      }
    }
    await insert.end();
    const [missing] = [...tablesLeft.keys(), ...sequencesLeft];
    if (missing !== undefined) throw new CopyRefused(`${missing} is missing`);
    await client.query("COMMIT");
    return rows;
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined); // Each query reports its own failure.
  await client.connect();
  return client;
}

interface Relation {
  schema: string;
  name: string;
}

function nameOf({ schema, name }: Relation): string {
  return `${quote(schema)}.${quote(name)}`;
}

/** A partitioned table is copied as a whole: its partitions depend on when the database was made. */
async function relationsOf(client: pg.Client, schemas: readonly string[]) {
  const { rows } = await client.query<Relation & { kind: "r" | "p" | "S"; columns: string[] }>(
    `SELECT n.nspname AS schema, c.relname AS name, c.relkind AS kind,
            array(SELECT a.attname::text FROM pg_attribute a
                  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition ORDER BY 1, 2`,
    [schemas],
  );
  return {
    tables: rows.filter(({ kind }) => kind !== "S").map(({ schema, name, columns }) => ({ schema, name, columns })),
    sequences: rows.filter(({ kind }) => kind === "S").map(({ schema, name }) => ({ schema, name })),
  };
}

/** Inserts rows into a table in groups. */
function insertInto(client: pg.Client, table: string | null) {
  let waiting: string[] = [];
  let characters = 0;
  const end = async (): Promise<void> => {
    if (waiting.length === 0 || table === null) return;
    const group = waiting;
    waiting = [];
    characters = 0;
    // OFFSET 0: each value is read once, not once per column.
    await client.query(
      `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
       SELECT (value).* FROM (SELECT text::${table} AS value FROM unnest($1::text[]) AS text OFFSET 0) AS values`,
      [group],
    );
  };
  return {
    end,
    add: async (row: string): Promise<void> => {
      if (table === null) throw new CopyRefused("a row is there before its table");
      waiting.push(row);
      characters += row.length;
      if (waiting.length >= rowsAtOnce || characters >= charactersAtOnce) await end();
    },
  };
}
