import type { AuditAction, AuditRecord } from "@coffer/events";
import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Span } from "./hours.ts";

/** Which of these records are stored, in whichever chain; ids in lower case. */
export async function findStored(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const found = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM audit_records WHERE id = ANY (${sql.array(ids, "uuid")})
  `);
  return new Set(found);
}

/** A record and the chain in which it has its place. */
export interface ChainedRecord {
  chainId: string;
  record: AuditRecord;
}

/** Inserts records, each as the text from which its hash can be computed again. */
export async function insertRecords(tx: Transaction, chained: readonly ChainedRecord[]): Promise<void> {
  const records = chained.map(({ record }) => record);
  // The texts go as lines (JSON has no line break of its own): as an array each of their quotes would be escaped.
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  await tx.query(sql.typeAlias("void")`
    INSERT INTO audit_records (chain_id, seq, id, time, action, outcome, actor_id, record)
    SELECT chain_id, seq, id, time, action, outcome, actor_id, record
    FROM unnest(
      ${column(chained, ({ chainId }) => chainId, "uuid")},
      ${column(records, ({ seq }) => seq, "int8")},
      ${column(records, ({ id }) => id, "uuid")},
      ${column(records, ({ time }) => time, "timestamptz")},
      ${column(records, ({ action }) => action, "text")},
      ${column(records, ({ outcome }) => outcome, "text")},
      ${column(records, ({ actor }) => actor.id, "text")},
      string_to_array(${lines}, chr(10))::json[]
    ) AS r (chain_id, seq, id, time, action, outcome, actor_id, record)
  `);
}

function column<Item>(items: readonly Item[], value: (item: Item) => string | number | null, type: string) {
  return sql.array(items.map(value), type);
}

/** What a list selects. `span` bounds the places, `before` and `after` exclude them. */
export interface RecordFilter {
  chainId: string;
  span: Span;
  from?: string | undefined;
  to?: string | undefined;
  action?: AuditAction | undefined;
  actorId?: string | undefined;
  outcome?: AuditRecord["outcome"] | undefined;
  order: "asc" | "desc";
  limit: number;
}

// Shown as it is stored: what does not fit any more is for whoever verifies the chain to find.
const row = z.object({ seq: z.number(), record: z.custom<AuditRecord>() });
export type StoredRecord = z.infer<typeof row>;

/** Records in the order of their places. */
export function listRecords(db: Queryable, filter: RecordFilter): Promise<readonly StoredRecord[]> {
  const { chainId, span, from, to, action, actorId, outcome, order, limit } = filter;
  const conditions = [
    sql.fragment`chain_id = ${chainId}`,
    sql.fragment`seq BETWEEN ${span.first} AND ${span.last}`,
    ...(from === undefined ? [] : [sql.fragment`time >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql.fragment`time < ${to}::timestamptz`]),
    ...(action === undefined ? [] : [sql.fragment`action = ${action}`]),
    ...(actorId === undefined ? [] : [sql.fragment`actor_id = ${actorId}`]),
    ...(outcome === undefined ? [] : [sql.fragment`outcome = ${outcome}`]),
    // Lets the planner use the index of those that are none.
    ...(outcome === undefined || outcome === "success" ? [] : [sql.fragment`outcome <> 'success'`]),
  ];
  return db.any(sql.type(row)`
    SELECT seq, record FROM audit_records
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY seq ${order === "asc" ? sql.fragment`ASC` : sql.fragment`DESC`} LIMIT ${limit}
  `);
}
