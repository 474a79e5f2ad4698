import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** Places of a chain, both inclusive. */
export interface Span {
  first: number;
  last: number;
}

/** The range of `seq` of one hour. `hour` is its start, ISO 8601. */
export interface HourSpan extends Span {
  chainId: string;
  hour: string;
}

/** Notes where the records of some hours are; the chains are locked by the transaction. */
export async function widenHours(tx: Transaction, spans: readonly HourSpan[]): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO audit_hours (chain_id, hour, first_seq, last_seq)
    SELECT chain_id, hour, first_seq, last_seq
    FROM ${sql.unnest(
      spans.map(({ chainId, hour, first, last }) => [chainId, hour, first, last]),
      ["uuid", "timestamptz", "int8", "int8"],
    )} AS span (chain_id, hour, first_seq, last_seq)
    ON CONFLICT (chain_id, hour) DO UPDATE SET
      first_seq = least(audit_hours.first_seq, excluded.first_seq),
      last_seq = greatest(audit_hours.last_seq, excluded.last_seq)
  `);
}

const spanRow = z.object({ first: z.number().nullable(), last: z.number().nullable() });

/**
 * The places between which all records of these hours are, the last hour included; null when there
 * are none.
 */
export async function findSpan(
  db: Queryable,
  chainId: string,
  { fromHour, toHour }: { fromHour?: string | undefined; toHour?: string | undefined },
): Promise<Span | null> {
  const conditions = [
    sql.fragment`chain_id = ${chainId}`,
    ...(fromHour === undefined ? [] : [sql.fragment`hour >= ${fromHour}::timestamptz`]),
    ...(toHour === undefined ? [] : [sql.fragment`hour <= ${toHour}::timestamptz`]),
  ];
  const { first, last } = await db.one(sql.type(spanRow)`
    SELECT min(first_seq) AS first, max(last_seq) AS last
    FROM audit_hours WHERE ${sql.join(conditions, sql.fragment` AND `)}
  `);
  return first === null || last === null ? null : { first, last };
}
