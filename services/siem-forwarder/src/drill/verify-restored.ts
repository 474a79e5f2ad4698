import { type ChainHead, firstPreviousHash, verifyAuditChain } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import {
  countRows,
  findChainWithoutEnd,
  listChainRecords,
  listChains,
  listTables,
  type RestoredChain,
} from "../store/restored.ts";

/** The content of a restored copy. `problem` is the first error, or null. */
export interface Restored {
  chains: number;
  records: number;
  /** Rows by schema. */
  rows: Record<string, number>;
  problem: string | null;
}

/** Less than every id of a chain. */
const beforeAll = "00000000-0000-0000-0000-000000000000";
const chainsAtOnce = 100;
const recordsAtOnce = 1000;
/** 128 MiB of a table. */
const blocksAtOnce = 16_384;

/**
 * Reads a restored copy: recomputes every audit chain from its first record to its stored end, and
 * counts the rows of every table. `db` is a connection to the copy whose search path is the schema
 * of this service.
 */
export async function verifyRestored(db: Queryable, schemas: readonly string[]): Promise<Restored> {
  const rows = await countAll(db, schemas);
  const empty = schemas.find((schema) => rows[schema] === undefined);
  const found = await verifyChains(db);
  return { ...found, rows, problem: empty === undefined ? found.problem : `the schema ${empty} has no table` };
}

async function countAll(db: Queryable, schemas: readonly string[]): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of await listTables(db, schemas)) {
    let count = 0;
    for (let from = 0; from < table.blocks; from += blocksAtOnce)
      count += await countRows(db, table, { from, to: from + blocksAtOnce });
    rows[table.schema] = (rows[table.schema] ?? 0) + count;
  }
  return rows;
}

async function verifyChains(db: Queryable): Promise<Omit<Restored, "rows">> {
  const found: Omit<Restored, "rows"> = { chains: 0, records: 0, problem: null };
  const stray = await findChainWithoutEnd(db);
  if (stray !== null) found.problem = `the audit chain ${stray} has records and no end`;
  for (let after = beforeAll; ;) {
    const chains = await listChains(db, after, chainsAtOnce);
    for (const chain of chains) {
      const { records, problem } = await verifyChain(db, chain);
      found.chains += 1;
      found.records += records;
      found.problem ??= problem;
    }
    const last = chains.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}

async function verifyChain(
  db: Queryable,
  { id, ...end }: RestoredChain,
): Promise<{ records: number; problem: string | null }> {
  let head: ChainHead = { seq: 0, hash: firstPreviousHash };
  for (let records = 0; ;) {
    const page = await listChainRecords(db, id, head.seq, recordsAtOnce);
    if (page.length === 0) {
      const whole = head.seq === end.seq && head.hash === end.hash;
      return { records, problem: whole ? null : `the audit chain ${id} ends at ${head.seq}, and not at ${end.seq}` };
    }
    records += page.length;
    const next = verifyAuditChain(
      head,
      page.map(({ record }) => record),
    );
    if ("problem" in next) return { records, problem: `the audit chain ${id}: record ${next.seq} is ${next.problem}` };
    head = next;
  }
}
