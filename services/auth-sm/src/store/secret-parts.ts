import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { SecretRow } from "./secrets.ts";
import { secretColumns } from "./secrets.ts";

export type Fragment = ReturnType<typeof sql.fragment>;

/** Who asks for the secrets of which folders, in SQL: the statement that reads them tells whether that is allowed. */
export interface Scope<Caller> {
  /** A select of one row, with all that decides it; of none for a caller who does not exist. */
  caller: Fragment;
  /** Of that row. */
  schema: z.ZodType<Caller>;
  /** A select of the `folder_id` of each folder. */
  folders: Fragment;
  /** A value that is another one after every change in what the caller could list at all. */
  digest: Fragment;
  /** A value that is another one after every new entry in the history of one of the folders. */
  heads: Fragment;
}

/** Secrets that follow each other in a list: all of it, or so many of them that they take little memory. */
export interface Part<Caller, Row> {
  /** Null when there is no such caller. The rows are for one who is allowed to have them. */
  caller: Caller | null;
  /** Another one after every change in what the list consists of; null when it was not asked for. */
  digest: string | null;
  rows: readonly Row[];
  /** Whether the list goes on after these. */
  more: boolean;
}

/** How a part is read. */
export interface PartQuery<Row> {
  /**
   * A select of the places of secrets (`at`: their ctid, which stands still within a statement), their `size`, `uid`,
   * `version` and `updated_at`, and the columns that `order` and `extra` name.
   */
  wanted: Fragment;
  /** Columns that no two secrets have alike. */
  order: Fragment;
  limit?: number | undefined;
  /** The digest's value: a select from `wanted` (all of it) or `asked` (as much as is read at once, and one more) may be. */
  digest?: Fragment | undefined;
  /** Columns of `wanted` that belong to a row, each with a comma before it. */
  extra: Fragment;
  schema: z.ZodType<(Row & z.infer<z.ZodObject<typeof place>>) | z.infer<typeof nothing>>;
}

/** A part ends with the secret with which it reaches 2 MiB; the largest secrets have about half a mebibyte. */
const mostBytes = 2 * 1024 * 1024;
export const mostRows = 1000;

const head = z.object({ caller: z.unknown(), digest: z.string().nullable(), found: z.number() }).nullable();
/**
 * What each row of a part has besides the secret: its number, the newest entry of its folder's history, and with the first
 * what is said once.
 */
export const place = { head, n: z.number(), history_seq: z.number().nullable() };
/** A secret in a list. */
export type ListedSecret = SecretRow & { history_seq: number | null };
/** The only row of a caller for whom there is no secret. */
export const nothing = z.object({ head, uid: z.null() });

/** About how many bytes a secret has in an answer, found out without fetching them. */
export const secretSize = sql.fragment`
  octet_length(encrypted_payload) + octet_length(title_encrypted) + octet_length(wrapped_dek)
    + 128 * cardinality(field_names) + 512
`;

/** Changes with every change of the secrets that it is selected from, also when a deleted uid is used again. */
export const secretsDigest = sql.fragment`
  count(*) || '.' || coalesce(sum(hash_record_extended((uid, version, updated_at), 0)), 0)
`;

/** Of folders `f`: changes with every new entry in the history of one of them. */
export const headsDigest = sql.fragment`coalesce(sum(hash_record_extended((f.id, f.history_seq), 0)), 0)`;

/** How many secrets are looked at for a part: the most that it may have, and one that tells whether more follow. */
export function rowsAtOnce(limit: number | undefined): number {
  return Math.min(limit ?? mostRows, mostRows) + 1;
}

/** Reads the first part of what is wanted, and in the same statement who the caller is. */
export async function readPart<Caller, Row extends ListedSecret>(
  db: Queryable,
  scope: Scope<Caller>,
  { wanted, order, limit, digest = sql.fragment`NULL`, extra, schema }: PartQuery<Row>,
): Promise<Part<Caller, Row>> {
  const rows = rowsAtOnce(limit);
  const found = await db.any(sql.type(schema)`
    WITH caller AS MATERIALIZED (SELECT to_json(c) AS state FROM (${scope.caller}) c),
    wanted AS (${wanted}),
    asked AS (SELECT * FROM wanted ORDER BY ${order} LIMIT ${rows}),
    part AS MATERIALIZED (
      SELECT at, (row_number() OVER w)::integer AS n, sum(size) OVER w - size AS before ${extra}
      FROM asked WINDOW w AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    )
    SELECT CASE WHEN n IS NULL OR n = 1 THEN
        json_build_object('caller', state, 'digest', ${digest}, 'found', (SELECT count(*) FROM asked))
      END AS head,
      n ${extra}, ${secretColumns},
      (SELECT history_seq FROM folders WHERE folders.id = secrets.folder_id) AS history_seq
    FROM caller LEFT JOIN (part JOIN secrets ON secrets.ctid = at) ON before < ${mostBytes} AND n < ${rows}
  `);
  // No order is promised of a join, though it comes in this one.
  const placed = found.filter((row) => row.uid !== null).sort((a, b) => a.n - b.n);
  const said = found.find((row) => row.head !== null)?.head ?? null;
  return {
    caller: said === null ? null : scope.schema.parse(said.caller),
    digest: said?.digest ?? null,
    rows: placed,
    more: said !== null && said.found > placed.length,
  };
}
