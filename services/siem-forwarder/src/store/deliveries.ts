import type { SiemFormat } from "@coffer/contract";
import type { Database, Prepared, Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

/** An endpoint as its worker sees it. */
export interface DeliveryState {
  id: string;
  org_id: string;
  format: SiemFormat;
  url: string;
  credentials: string;
  updated_at: string;
  position: number;
  failing_since: string | null;
  attempts: number;
  parked: number;
  parked_reported_at: string | null;
}

/** A stored record of a chain. */
export interface BacklogRecord {
  seq: number;
  /** Its time in Unix seconds, with six decimals. */
  seconds: string;
  /** Whether it is about failed deliveries to the endpoint itself. */
  isOwn: boolean;
  text: string;
}

/** The result of a delivery. */
export interface DeliveryResult {
  id: string;
  replicaId: string;
  position: number;
  parked: number;
  at: string;
  status: number | null;
  error: string | null;
}

/** A failure, and when the next attempt is due. `seenUpdatedAt`: the settings with which it failed. */
export interface DeliveryFailure extends DeliveryResult {
  seenUpdatedAt: string;
  failingSince: string;
  attempts: number;
  nextAttemptAt: string;
}

const stateColumns = `
  id, org_id, format, url, credentials, updated_at, position, failing_since, attempts, parked, parked_reported_at
`;

/** The statements of the workers, on the pipelined connections: they are short, and lock one row. */
export interface DeliveryStore {
  /** The endpoint; null if this replica has lost its lease, or it is not enabled. */
  find(id: string, replicaId: string, now: string): Promise<DeliveryState | null>;
  /** The records after a place, in order: at most `limit`, and of more than `bytes` at least one. */
  backlog(state: Pick<DeliveryState, "id" | "org_id">, after: number, limits: BacklogLimits): Promise<BacklogRecord[]>;
  /**
   * Stores a success. Returns the current endpoint; null if it is disabled, or leased by another
   * replica.
   */
  succeed(result: DeliveryResult): Promise<DeliveryState | null>;
  /** Notes a failure; its wait not when the settings have changed meanwhile. */
  fail(failure: DeliveryFailure): Promise<void>;
}

interface BacklogLimits {
  limit: number;
  bytes: number;
  /**
   * The records just read: when they were far smaller than `bytes` allows, the next ones are not
   * measured.
   */
  before?: readonly BacklogRecord[] | undefined;
}

/** Unmeasured records may be expected to have at most so many times the bytes that a batch takes. */
const unmeasuredTimes = 2;

export function createDeliveryStore(database: Database): DeliveryStore {
  const find: Prepared<DeliveryState> = database.prepared(
    "siem_find_owned",
    `SELECT ${stateColumns} FROM siem_endpoints
     WHERE id = $1 AND lease_holder = $2 AND lease_until > $3::timestamptz AND enabled`,
  );
  // Without it, each read would look into every partition.
  const firstTime = `
    coalesce((SELECT min(from_time) FROM audit_partitions WHERE chain_id = $1 AND last_seq > $2), '-infinity')
  `;
  const next = `
    SELECT seq, time, record::text AS text,
      CASE WHEN action = 'siem.webhook.delivery.failed' THEN record -> 'target' ->> 'id' = $3 ELSE false END AS is_own
    FROM audit_records WHERE chain_id = $1 AND seq > $2 AND time >= ${firstTime} ORDER BY seq LIMIT $4
  `;
  // Rows of about 50 KB: a row for each record costs the client twice as much, and one row for all
  // of them more copies.
  const joined = `
    string_agg(text, chr(30) ORDER BY seq) AS texts, string_agg(seq::text, ' ' ORDER BY seq) AS seqs,
    string_agg(extract(epoch FROM time)::text, ' ' ORDER BY seq) AS seconds, array_agg(seq) FILTER (WHERE is_own) AS own
  `;
  const group = "(seq - $2 - 1) / 50";
  // The sum over the records costs half as much as reading them.
  const unmeasured: Prepared<JoinedRecords> = database.prepared(
    "siem_backlog_unmeasured",
    `SELECT ${joined} FROM (${next}) AS next GROUP BY ${group} ORDER BY ${group}`,
  );
  const measured: Prepared<JoinedRecords> = database.prepared(
    "siem_backlog",
    `SELECT ${joined} FROM (
       SELECT seq, time, text, is_own, coalesce(sum(octet_length(text)) OVER before, 0) AS bytes FROM (${next}) AS next
       WINDOW before AS (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
     ) AS measured WHERE bytes < $5 GROUP BY ${group} ORDER BY ${group}`,
  );
  const succeed: Prepared<DeliveryState & { enabled: boolean }> = database.preparedWrite(
    "siem_succeed",
    // Waits for no disk: after a crash of Postgres the records of the last moments are delivered again.
    `UPDATE siem_endpoints SET position = greatest(position, $3), parked = parked + $4,
       last_at = $5::timestamptz, last_status = $6, last_error = $7,
       failing_since = NULL, attempts = 0, next_attempt_at = NULL
     FROM set_config('synchronous_commit', 'off', true)
     WHERE id = $1 AND lease_holder = $2 RETURNING enabled, ${stateColumns}`,
  );
  const fail: Prepared<never> = database.preparedWrite(
    "siem_fail",
    `UPDATE siem_endpoints SET position = greatest(position, $3), parked = parked + $4,
       last_at = $5::timestamptz, last_status = $6, last_error = $7,
       failing_since = CASE WHEN updated_at = $8::timestamptz THEN $9::timestamptz END,
       attempts = CASE WHEN updated_at = $8::timestamptz THEN $10 ELSE 0 END,
       next_attempt_at = CASE WHEN updated_at = $8::timestamptz THEN $11::timestamptz END
     WHERE id = $1 AND lease_holder = $2`,
  );
  const values = ({ id, replicaId, position, parked, at, status, error }: DeliveryResult) => [
    id,
    replicaId,
    position,
    parked,
    at,
    status,
    error,
  ];
  return {
    find: async (id, replicaId, now) => (await find([id, replicaId, now]))[0] ?? null,
    backlog: async ({ id, org_id }, after, { limit, bytes, before = [] }) => {
      const isSmall = expectedBytes(before, limit) <= bytes * unmeasuredTimes;
      const rows = isSmall
        ? await unmeasured([org_id, after, id, limit])
        : await measured([org_id, after, id, limit, bytes]);
      return rows.flatMap(separate);
    },
    succeed: async (result) => {
      const [state] = await succeed(values(result));
      return state?.enabled === true ? state : null;
    },
    fail: async (failure) => {
      const { seenUpdatedAt, failingSince, attempts, nextAttemptAt } = failure;
      await fail([...values(failure), seenUpdatedAt, failingSince, attempts, nextAttemptAt]);
    },
  };
}

/** Some records in one row. `texts` has U+001E between them, which no JSON text has. */
interface JoinedRecords {
  texts: string;
  seqs: string;
  seconds: string;
  own: number[] | null;
}

function separate({ texts, seqs, seconds, own }: JoinedRecords): BacklogRecord[] {
  const [places, times, isOwn] = [seqs.split(" "), seconds.split(" "), new Set(own)];
  return texts.split("\u001e").map((text, at) => {
    const seq = Number(places[at]);
    return { seq, seconds: times[at] ?? "", isOwn: isOwn.has(seq), text };
  });
}

/** The bytes of `count` records like these; unlimited when there are none to go by. */
function expectedBytes(records: readonly BacklogRecord[], count: number): number {
  if (records.length === 0) return Number.POSITIVE_INFINITY;
  return (records.reduce((sum, { text }) => sum + text.length, 0) / records.length) * count;
}

/**
 * Disables an endpoint of this replica whose settings are still those that failed. Returns whether
 * it did.
 */
export async function disableFailing(
  tx: Transaction,
  {
    id,
    replicaId,
    seenUpdatedAt,
    at,
    error,
  }: Pick<DeliveryFailure, "id" | "replicaId" | "seenUpdatedAt" | "at"> & { error: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET enabled = false, last_error = ${error},
      updated_at = greatest(${at}::timestamptz, updated_at + interval '1 microsecond')
    WHERE id = ${id} AND lease_holder = ${replicaId} AND updated_at = ${seenUpdatedAt}::timestamptz AND enabled
  `);
  return rowCount > 0;
}

/** Takes the count of parked records that no audit record tells of, once an hour; 0 when it is not due. */
export async function takeParked(
  tx: Transaction,
  { id, now, notSince }: { id: string; now: string; notSince: string },
): Promise<number> {
  const row = await tx.maybeOne(sql.type(z.object({ parked: z.number() }))`
    WITH due AS (
      SELECT id, parked FROM siem_endpoints
      WHERE id = ${id} AND parked > 0
        AND (parked_reported_at IS NULL OR parked_reported_at <= ${notSince}::timestamptz)
      FOR UPDATE
    )
    UPDATE siem_endpoints SET parked = 0, parked_reported_at = ${now}::timestamptz
    FROM due WHERE siem_endpoints.id = due.id RETURNING due.parked
  `);
  return row?.parked ?? 0;
}

const givenUp = z.object({
  count: z.number(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  last: z.number().nullable(),
});

/**
 * The records after the `seq` `after` and before the first one of `since` or later: their count,
 * their times, and the last `seq`. All records before the `seq` `storedFrom` are older than
 * `since`.
 */
export async function findTooOld(
  db: Queryable,
  { chainId, after, since, storedFrom }: { chainId: string; after: number; since: string; storedFrom: number | null },
): Promise<z.infer<typeof givenUp>> {
  const from = Math.max(after + 1, storedFrom ?? after + 1);
  const first = await db.maybeOneFirst(sql.type(z.object({ seq: z.number() }))`
    SELECT seq FROM audit_records WHERE chain_id = ${chainId} AND seq >= ${from} AND time >= ${since}::timestamptz
    ORDER BY seq LIMIT 1
  `);
  return db.one(sql.type(givenUp)`
    SELECT count(*) AS count, min(time) AS from, max(time) AS to, max(seq) AS last FROM audit_records
    WHERE chain_id = ${chainId} AND seq > ${after}
      ${first === null ? sql.fragment`` : sql.fragment`AND seq < ${first}`}
  `);
}

/** Moves the position of an endpoint that is still at `from`. Returns whether it was. */
export async function skipTo(
  tx: Transaction,
  { id, from, to }: { id: string; from: number; to: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE siem_endpoints SET position = ${to} WHERE id = ${id} AND position = ${from}
  `);
  return rowCount > 0;
}
