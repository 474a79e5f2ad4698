import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { recordRow } from "./records.ts";
import type { RecordRow } from "./records.ts";
import type { VaultAccessRow } from "./vault-access.ts";
import { accessTo, vaultAccess } from "./vault-access.ts";

/** Which records of a vault are wanted, in order of id. */
export interface RecordQuery {
  type: string | undefined;
  /** ISO 8601; records changed at or after it. */
  updatedSince: string | undefined;
  /** The list goes on after this record; undefined begins it. */
  after: string | undefined;
  /** The last record that may be in it. */
  until?: string | undefined;
  limit: number | undefined;
}

/** Records that follow each other: all of a list, or so many of them that they take little memory. */
export interface RecordPart {
  /** Null when there is no such vault. The rows are for one who sees it; there are none for anybody else. */
  access: VaultAccessRow | null;
  /** Another one after every change in what the list consists of. */
  digest: string;
  rows: readonly RecordRow[];
  /** Whether the list goes on after these. */
  more: boolean;
  /** The last record of the list as a whole, as it is now. */
  end: string | null;
}

/** A part ends with the record with which it reaches 2 MiB. */
const mostBytes = 2 * 1024 * 1024;
const mostRows = 1_000;

const head = z
  .object({ access: vaultAccess, digest: z.string().nullable(), found: z.number(), end: z.string().nullable() })
  .nullable();
const listedRow = z.union([
  recordRow.extend({ head, n: z.number() }),
  /** The only row where there is no record. */
  z.object({ head, id: z.null() }),
]);

/** Changes with every change of the records that it is selected from. */
const digestOf = sql.fragment`count(*) || '.' || coalesce(sum(hash_record_extended((id, updated_at), 0)), 0)`;

/**
 * The first part of a list of a vault's records, and in the same statement what the vault is to the person.
 * @param whole whether the digest is wanted of a whole list; else it is that of what is looked at
 */
export async function listRecords(
  db: Queryable,
  { userId, vaultId }: { userId: string; vaultId: string },
  query: RecordQuery,
  { whole }: { whole: boolean },
): Promise<RecordPart> {
  const rows = Math.min(query.limit ?? mostRows, mostRows) + 1;
  const wanted = sql.fragment`
    FROM records
    WHERE vault_id = (
      SELECT vault_id FROM sights WHERE user_id = ${userId} AND vault_id = ${vaultId} AND ended_x IS NULL
    ) ${conditionsOf(query)}`;
  const digest = whole ? sql.fragment`(SELECT ${digestOf} ${wanted})` : sql.fragment`(SELECT ${digestOf} FROM asked)`;
  const end = whole ? sql.fragment`(SELECT id ${wanted} ORDER BY records.id DESC LIMIT 1)` : sql.fragment`NULL`;
  const found = await db.any(sql.type(listedRow)`
    WITH access AS MATERIALIZED (SELECT to_json(a) AS state FROM (${accessTo(userId, vaultId)}) a),
    asked AS MATERIALIZED (
      SELECT ctid AS at, id, updated_at, octet_length(encrypted_data) + 512 AS size ${wanted} ORDER BY id LIMIT ${rows}
    ),
    part AS MATERIALIZED (
      SELECT at, (row_number() OVER w)::integer AS n, sum(size) OVER w - size AS before
      FROM asked WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
    )
    SELECT CASE WHEN n IS NULL OR n = 1 THEN json_build_object(
        'access', state, 'digest', ${digest}, 'found', (SELECT count(*) FROM asked), 'end', ${end}
      ) END AS head,
      n, id, vault_id, type, encrypted_data, created_at, updated_at
    FROM access LEFT JOIN (part JOIN records ON records.ctid = at) ON before < ${mostBytes} AND n < ${rows}
  `);
  // No order is promised of a join, though it comes in this one.
  const placed = found.filter((row) => row.id !== null).sort((a, b) => a.n - b.n);
  const said = found.find((row) => row.head !== null)?.head ?? null;
  return {
    access: said?.access ?? null,
    digest: said?.digest ?? "",
    rows: placed,
    more: said !== null && said.found > placed.length,
    end: said?.end ?? null,
  };
}

/** The conditions of a list, each with AND before it. */
function conditionsOf({ type, updatedSince, after, until }: RecordQuery) {
  const none = sql.fragment``;
  return sql.fragment`
    ${type === undefined ? none : sql.fragment`AND type = ${type}`}
    ${updatedSince === undefined ? none : sql.fragment`AND updated_at >= ${updatedSince}::timestamptz`}
    ${after === undefined ? none : sql.fragment`AND id > ${after}::uuid`}
    ${until === undefined ? none : sql.fragment`AND id <= ${until}::uuid`}`;
}
