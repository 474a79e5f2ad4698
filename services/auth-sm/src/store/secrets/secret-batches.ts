import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { secretColumns, type SecretRow } from "./secrets.ts";
import { type Unchecked, unchecked } from "../unchecked.ts";

export type Fragment = ReturnType<typeof sql.fragment>;

/**
 * The caller and the folders of a request, in SQL: the statement that reads the secrets also reads
 * what authorizes the caller.
 */
export interface Scope<Caller> {
  /**
   * A select of one row with everything that authorizes the caller; no row when the caller does not
   * exist.
   */
  caller: Fragment;
  /** The schema of that row. */
  schema: z.ZodType<Caller>;
  /** A select of the `folder_id` of each folder. */
  folders: Fragment;
  /** The time of the request, as a timestamptz. */
  now: Fragment;
  /**
   * The condition, prefixed with AND, for the secrets that exist for the caller: a machine has no
   * expired ones.
   */
  existing: Fragment;
  /** A value that changes with everything that the caller could list. */
  digest: Fragment;
  /** A value that changes with every new entry in the history of one of the folders. */
  heads: Fragment;
}

/** Consecutive secrets of a list: all, or as many as fit into little memory. */
export interface Batch<Caller, Row> {
  /** Null when there is no such caller. */
  caller: Caller | null;
  /** Changes with every change of the list; null when it was not requested. */
  digest: string | null;
  rows: Unchecked<readonly Row[]>;
  /** Whether the list continues after these. */
  more: boolean;
}

export interface BatchQuery<Row> {
  /**
   * A select of the positions of secrets (`at`: their ctid, which is stable within a statement),
   * their `size`, and the columns that `order`, `extra` and `digest` name.
   */
  wanted: Fragment;
  /** Columns that are unique per secret. */
  order: Fragment;
  limit?: number | undefined;
  /** The digest: a select from `wanted` (everything) or `limited` (one batch and one more row). */
  digest?: Fragment | undefined;
  /** Further columns of `wanted` for each row, each prefixed with a comma. */
  extra: Fragment;
  schema: z.ZodType<(Row & z.infer<z.ZodObject<typeof rowColumns>>) | z.infer<typeof nothing>>;
}

/** A batch ends with the secret that reaches 2 MiB. The largest secrets have about 0.5 MiB. */
const mostBytes = 2 * 1024 * 1024;
export const mostRows = 1000;

const head = z.object({ caller: z.unknown(), digest: z.string().nullable(), found: z.number() }).nullable();
/**
 * The columns of each row besides the secret: its number, its folder's newest history entry,
 * whether it has expired, and in the first row the `head`.
 */
export const rowColumns = { head, n: z.number(), history_seq: z.number().nullable(), expired: z.boolean() };
export type ListedSecret = SecretRow & { history_seq: number | null; expired: boolean };
/** The only row when there is no secret. */
export const nothing = z.object({ head, uid: z.null() });

/** The approximate size of a secret in a response, in bytes, without reading its content. */
export const secretSize = sql.fragment`
  octet_length(encrypted_payload) + octet_length(title_encrypted) + octet_length(wrapped_dek)
    + 128 * cardinality(field_names) + 512
`;

/** Whether a secret has expired. */
export const expiredAt = (now: Fragment): Fragment => sql.fragment`coalesce(expires_at <= ${now}, false)`;

/** Changes with every change of the selected secrets, also when a deleted uid is used again. */
export const secretsDigest = sql.fragment`
  count(*) || '.' || coalesce(sum(hash_record_extended((uid, version, updated_at), 0)), 0)
`;

/**
 * Also changes at the moment when one of the selected secrets expires. While no secret changes, the
 * number of expired ones only grows, so the number says which they are.
 */
export const secretsDigestAt = (now: Fragment): Fragment =>
  sql.fragment`${secretsDigest} || '.' || count(*) FILTER (WHERE expires_at <= ${now})`;

/** For folders `f`: changes with every new entry in the history of one of them. */
export const headsDigest = sql.fragment`coalesce(sum(hash_record_extended((f.id, f.history_seq), 0)), 0)`;

/**
 * How many secrets a batch reads: its maximum, and one more that shows whether the list continues.
 */
export function rowsAtOnce(limit: number | undefined): number {
  return Math.min(limit ?? mostRows, mostRows) + 1;
}

/** Reads the first batch, with the caller's state from the same statement. */
export async function readBatch<Caller, Row extends ListedSecret>(
  db: Queryable,
  scope: Scope<Caller>,
  { wanted, order, limit, digest = sql.fragment`NULL`, extra, schema }: BatchQuery<Row>,
): Promise<Batch<Caller, Row>> {
  const rows = rowsAtOnce(limit);
  const found = await db.any(sql.type(schema)`
    WITH caller AS MATERIALIZED (SELECT to_json(c) AS state FROM (${scope.caller}) c),
    wanted AS (${wanted}),
    limited AS (SELECT * FROM wanted ORDER BY ${order} LIMIT ${rows}),
    part AS MATERIALIZED (
      SELECT at, (row_number() OVER w)::integer AS n, sum(size) OVER w - size AS before ${extra}
      FROM limited WINDOW w AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    )
    SELECT CASE WHEN n IS NULL OR n = 1 THEN
        json_build_object('caller', state, 'digest', ${digest}, 'found', (SELECT count(*) FROM limited))
      END AS head,
      n ${extra}, ${secretColumns},
      (SELECT history_seq FROM folders WHERE folders.id = secrets.folder_id) AS history_seq,
      ${expiredAt(scope.now)} AS expired
    FROM caller LEFT JOIN (part JOIN secrets ON secrets.ctid = at) ON before < ${mostBytes} AND n < ${rows}
  `);
  // SQL does not guarantee an order of a join.
  const placed = found.filter((row) => row.uid !== null).sort((a, b) => a.n - b.n);
  const said = found.find((row) => row.head !== null)?.head ?? null;
  return {
    caller: said === null ? null : scope.schema.parse(said.caller),
    digest: said?.digest ?? null,
    rows: unchecked<readonly Row[]>(placed),
    more: said !== null && said.found > placed.length,
  };
}
