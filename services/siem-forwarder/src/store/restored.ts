import type { AuditRecord, ChainHead } from "@coffer/events";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** A chain and its end, as a restored copy has it. */
export interface RestoredChain extends ChainHead {
  id: string;
}

const chain = z.object({ id: z.string(), seq: z.number(), hash: z.string() });

/** The chains behind `after` in the order of their ids. */
export function listChains(db: Queryable, after: string, limit: number): Promise<readonly RestoredChain[]> {
  return db.any(sql.type(chain)`
    SELECT id, seq, hash FROM audit_chains WHERE id > ${after} ORDER BY id LIMIT ${limit}
  `);
}

const stored = z.object({ seq: z.number(), record: z.custom<AuditRecord>() });

/** The records of a chain behind `after` in the order of their places. */
export function listChainRecords(
  db: Queryable,
  chainId: string,
  after: number,
  limit: number,
): Promise<readonly z.infer<typeof stored>[]> {
  return db.any(sql.type(stored)`
    SELECT seq, record FROM audit_records WHERE chain_id = ${chainId} AND seq > ${after} ORDER BY seq LIMIT ${limit}
  `);
}

/** A chain that has records and no end. */
export function findChainWithoutEnd(db: Queryable): Promise<string | null> {
  return db.maybeOneFirst(sql.type(z.object({ chain_id: z.string() }))`
    WITH RECURSIVE present AS (
      (SELECT chain_id FROM audit_records ORDER BY chain_id LIMIT 1)
      UNION ALL
      SELECT following.chain_id FROM present CROSS JOIN LATERAL (
        SELECT chain_id FROM audit_records WHERE chain_id > present.chain_id ORDER BY chain_id LIMIT 1
      ) AS following
    )
    SELECT chain_id FROM present
    WHERE NOT EXISTS (SELECT FROM audit_chains WHERE audit_chains.id = present.chain_id) LIMIT 1
  `);
}

const table = z.object({ schema: z.string(), name: z.string(), blocks: z.number() });
export type RestoredTable = z.infer<typeof table>;

/** The tables of these schemas with their sizes in blocks. */
export function listTables(db: Queryable, schemas: readonly string[]): Promise<readonly RestoredTable[]> {
  return db.any(sql.type(table)`
    SELECT n.nspname::text AS schema, c.relname::text AS name,
      pg_relation_size(c.oid) / current_setting('block_size')::bigint AS blocks
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY (${sql.array(schemas, "text")}) AND c.relkind = 'r' ORDER BY 1, 2
  `);
}

/**
 * The rows of a table in the blocks from `from` to before `to`: a large table takes several short
 * statements.
 */
export function countRows(
  db: Queryable,
  { schema, name }: RestoredTable,
  { from, to }: { from: number; to: number },
): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) AS count FROM ${sql.identifier([schema, name])}
    WHERE ctid >= ${`(${from},0)`}::tid AND ctid < ${`(${to},0)`}::tid
  `);
}
