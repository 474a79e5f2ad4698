import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Span } from "./hours.ts";

/** ISO 8601, or `-infinity`; `to` is exclusive. */
export interface TimeRange {
  from: string;
  to: string;
}

/** The records of a chain in one partition: the bounds of their places, and of the partition. */
export interface PartitionSpan extends Span, TimeRange {}

const partition = z.object({ first: z.number(), last: z.number(), from: z.string(), to: z.string() });

/** The partitions that can have records of these places and times, in the order of their first places. */
export function findPartitions(
  db: Queryable,
  { chainId, span, from, to }: { chainId: string; span: Span; from?: string | undefined; to?: string | undefined },
): Promise<readonly PartitionSpan[]> {
  const conditions = [
    sql.fragment`chain_id = ${chainId} AND last_seq >= ${span.first} AND first_seq <= ${span.last}`,
    ...(from === undefined ? [] : [sql.fragment`to_time > ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql.fragment`from_time < ${to}::timestamptz`]),
  ];
  return db.any(sql.type(partition)`
    SELECT first_seq AS first, last_seq AS last, from_time AS from, to_time AS to
    FROM audit_partitions WHERE ${sql.join(conditions, sql.fragment` AND `)} ORDER BY first_seq, from_time
  `);
}

/**
 * Makes the partition of the next month that has none, if the month begins at `until` or before.
 * Returns whether it did. Safe to run by several replicas at once.
 * @throws ServiceError `unavailable` while a long read, such as a backup, holds the default partition
 */
export function addPartition(db: Queryable, until: string): Promise<boolean> {
  return db.oneFirst(sql.type(z.object({ added: z.boolean() }))`
    SELECT add_audit_partition(${until}::timestamptz) AS added
  `);
}

/** The end of the last month that has a partition. */
export function findPartitionsEnd(db: Queryable): Promise<string> {
  return db.oneFirst(sql.type(z.object({ end: z.string() }))`SELECT audit_partitions_end() AS end`);
}
