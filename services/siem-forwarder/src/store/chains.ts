import type { ChainHead } from "@coffer/events";
import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

const chain = z.object({ id: z.string(), seq: z.number(), hash: z.string() });

/**
 * The ends of the chains that exist, locked until the transaction ends. Always in the order of
 * their ids: two who append to the same chains never wait for each other in a circle.
 */
export async function lockChains(tx: Transaction, chainIds: readonly string[]): Promise<Map<string, ChainHead>> {
  const rows = await tx.any(sql.type(chain)`
    SELECT id, seq, hash FROM audit_chains
    WHERE id = ANY (${sql.array(chainIds, "uuid")}) ORDER BY id FOR UPDATE
  `);
  return new Map(rows.map(({ id, seq, hash }) => [id, { seq, hash }]));
}

/** Makes the chains that do not exist, each with `head` as its end; in the order of their ids. */
export async function openChains(db: Queryable, chainIds: readonly string[], head: ChainHead): Promise<void> {
  await db.query(sql.typeAlias("void")`
    INSERT INTO audit_chains (id, seq, hash)
    SELECT id, ${head.seq}, ${head.hash} FROM unnest(${sql.array(chainIds, "uuid")}) AS opened (id) ORDER BY id
    ON CONFLICT (id) DO NOTHING
  `);
}

/** Moves the ends of chains that the transaction has locked. */
export async function moveChains(tx: Transaction, heads: ReadonlyMap<string, ChainHead>): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE audit_chains SET seq = moved.seq, hash = moved.hash
    FROM ${sql.unnest(
      [...heads].map(([id, { seq, hash }]) => [id, seq, hash]),
      ["uuid", "int8", "text"],
    )} AS moved (id, seq, hash)
    WHERE audit_chains.id = moved.id
  `);
}

/** The end of a chain; null when nothing was ever appended to it. */
export async function findHead(db: Queryable, chainId: string): Promise<ChainHead | null> {
  const row = await db.maybeOne(sql.type(chain)`
    SELECT id, seq, hash FROM audit_chains WHERE id = ${chainId} AND seq > 0
  `);
  return row && { seq: row.seq, hash: row.hash };
}
