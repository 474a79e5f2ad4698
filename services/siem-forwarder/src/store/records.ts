import type { AuditAction } from "@coffer/contract";
import type { AuditRecord } from "@coffer/events";
import type { Fragment, Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Span } from "./hours.ts";
import type { TimeRange } from "./partitions.ts";

/**
 * Which of these records are stored, in whichever chain; ids in lower case. A record that is sent
 * again has the same time, so only the partitions of these times are read.
 */
export async function findStored(
  tx: Transaction,
  records: readonly { id: string; time: string }[],
): Promise<Set<string>> {
  const ids = records.map(({ id }) => id);
  const times = records.map(({ time }) => Date.parse(time));
  const from = new Date(Math.min(...times)).toISOString();
  // A Date has milliseconds, a record microseconds.
  const to = new Date(Math.max(...times)).toISOString().replace("Z", "999Z");
  const found = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM audit_records
    WHERE id = ANY (${sql.array(ids, "uuid")}) AND time >= ${from}::timestamptz AND time <= ${to}::timestamptz
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
  // One text with a line per record (JSON text has no line breaks): an array would escape each quote.
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

/** The filter of a list. `span` bounds the places. */
export interface RecordFilter {
  chainId: string;
  span: Span;
  /** The times of all records of the span: no other partition is read. */
  within?: TimeRange | undefined;
  from?: string | undefined;
  to?: string | undefined;
  action?: AuditAction | undefined;
  actorId?: string | undefined;
  outcome?: AuditRecord["outcome"] | undefined;
  order: "asc" | "desc";
  limit: number;
}

// Not validated: the list returns the stored text, and verifying the chain detects a changed record.
const row = z.object({ seq: z.number(), record: z.custom<AuditRecord>() });
export type StoredRecord = z.infer<typeof row>;

/** Records in the order of their places. */
export function listRecords(db: Queryable, filter: RecordFilter): Promise<readonly StoredRecord[]> {
  const { action, actorId, outcome } = filter;
  const selectsAll = action === undefined && actorId === undefined && outcome === undefined;
  return selectsAll ? listAll(db, filter) : listGroups(db, filter);
}

function listAll(db: Queryable, filter: RecordFilter): Promise<readonly StoredRecord[]> {
  return db.any(sql.type(row)`
    SELECT seq, record FROM audit_records
    WHERE chain_id = ${filter.chainId} AND seq BETWEEN ${filter.span.first} AND ${filter.span.last}
      AND ${inTimes(filter)} AND ${inPartitions(filter)}
    ORDER BY ${bySeq(filter)} LIMIT ${filter.limit}
  `);
}

/**
 * Merges the groups of records with the same action and outcome that the filter selects. The first
 * query steps from group to group. Only one index has the order of each step: a condition `=` in
 * place of a bound would let the planner read another index and filter.
 */
function listGroups(db: Queryable, filter: RecordFilter): Promise<readonly StoredRecord[]> {
  const { chainId, action, actorId, outcome, limit, span } = filter;
  const actor = actorId === undefined ? sql.fragment`` : sql.fragment`actor_id,`;
  const ofActor = actorId === undefined ? sql.fragment`` : sql.fragment`${actorId}::text,`;
  const isSelected = and([
    sql.fragment`true`,
    ...(actorId === undefined ? [] : [sql.fragment`found.actor_id = ${actorId}`]),
    ...(action === undefined ? [] : [sql.fragment`found.action = ${action}`]),
  ]);
  return db.any(sql.type(row)`
    WITH RECURSIVE groups AS (
      SELECT action, outcome FROM (
        SELECT ${actor} action, outcome FROM audit_records
        WHERE chain_id = ${chainId} AND (${actor} action, outcome) >= (${ofActor} ${action ?? ""}, '')
          AND ${inPartitions(filter)}
        ORDER BY ${actor} action, outcome LIMIT 1
      ) AS found WHERE ${isSelected}
      UNION ALL
      SELECT found.action, found.outcome FROM groups CROSS JOIN LATERAL (
        SELECT ${actor} action, outcome FROM audit_records
        WHERE chain_id = ${chainId} AND (${actor} action, outcome) > (${ofActor} groups.action, groups.outcome)
          AND ${inPartitions(filter)}
        ORDER BY ${actor} action, outcome LIMIT 1
      ) AS found WHERE ${isSelected}
    ), page AS (
      SELECT found.seq, found.time FROM groups CROSS JOIN LATERAL (
        SELECT seq, time FROM audit_records
        WHERE chain_id = ${chainId}
          AND (${actor} action, outcome, seq) >= (${ofActor} groups.action, groups.outcome, ${span.first})
          AND (${actor} action, outcome, seq) <= (${ofActor} groups.action, groups.outcome, ${span.last})
          AND ${inTimes(filter)} AND ${inPartitions(filter)}
        ORDER BY ${byGroup(filter)} LIMIT ${limit}
      ) AS found
      ${outcome === undefined ? sql.fragment`` : sql.fragment`WHERE groups.outcome = ${outcome}`}
      ORDER BY ${bySeq(filter)} LIMIT ${limit}
    )
    SELECT seq, record FROM page JOIN audit_records USING (seq, time)
    WHERE chain_id = ${chainId} AND ${inPartitions(filter)} ORDER BY ${bySeq(filter)}
  `);
}

function inTimes({ from, to }: RecordFilter): Fragment {
  return and([
    sql.fragment`true`,
    ...(from === undefined ? [] : [sql.fragment`time >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql.fragment`time < ${to}::timestamptz`]),
  ]);
}

function inPartitions({ within }: RecordFilter): Fragment {
  if (within === undefined) return sql.fragment`true`;
  return sql.fragment`time >= ${within.from}::timestamptz AND time < ${within.to}::timestamptz`;
}

function bySeq({ order }: RecordFilter): Fragment {
  return order === "asc" ? sql.fragment`seq ASC` : sql.fragment`seq DESC`;
}

/** The order of the index of the groups. */
function byGroup({ actorId, order }: RecordFilter): Fragment {
  const columns = [...(actorId === undefined ? [] : ["actor_id"]), "action", "outcome", "seq"];
  const direction = order === "asc" ? sql.fragment`ASC` : sql.fragment`DESC`;
  const parts = columns.map((name) => sql.fragment`${sql.identifier([name])} ${direction}`);
  return sql.fragment`${sql.join(parts, sql.fragment`, `)}`;
}

function and(conditions: readonly Fragment[]): Fragment {
  return sql.fragment`${sql.join(conditions, sql.fragment` AND `)}`;
}
