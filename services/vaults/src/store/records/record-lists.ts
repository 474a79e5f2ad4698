import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { recordRow, type RecordRow } from "./records.ts";
import { accessTo, vaultAccess, type VaultAccessRow } from "../vaults/vault-access.ts";

/** A query for the records of a vault, in order of id. */
export interface RecordQuery {
  type: string | undefined;
  /** ISO 8601; only records changed at or after it. */
  updatedSince: string | undefined;
  /** Only records after this id. */
  after: string | undefined;
  /** Only records up to this id. */
  until?: string | undefined;
  limit: number | undefined;
}

/** Consecutive records: the whole list, or as many as fit a part. */
export interface RecordPart {
  /** Null if the vault does not exist. There are rows only if the person sees the vault. */
  access: VaultAccessRow | null;
  /** Changes with every change of the listed records. */
  digest: string;
  rows: readonly RecordRow[];
  /** Whether more records follow. */
  more: boolean;
  /** The last record of the whole list. */
  end: string | null;
}

/** A part ends with the record that reaches 2 MiB. */
const mostBytes = 2 * 1024 * 1024;
const mostRows = 1_000;

const head = z
  .object({ access: vaultAccess, digest: z.string().nullable(), found: z.number(), end: z.string().nullable() })
  .nullable();
const listedRow = z.union([
  recordRow.extend({ head, n: z.number() }),
  /** The only row if there is no record. */
  z.object({ head, id: z.null() }),
]);

/** Changes with every change of the selected records. */
const digestOf = sql.fragment`count(*) || '.' || coalesce(sum(hash_record_extended((id, updated_at), 0)), 0)`;

/**
 * A part of the records of a vault, with the person's access from the same snapshot.
 * @param whole whether the digest covers the whole list instead of this part
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
  const digest = whole ? sql.fragment`(SELECT ${digestOf} ${wanted})` : sql.fragment`(SELECT ${digestOf} FROM chosen)`;
  const end = whole ? sql.fragment`(SELECT id ${wanted} ORDER BY records.id DESC LIMIT 1)` : sql.fragment`NULL`;
  const found = await db.any(sql.type(listedRow)`
    WITH access AS MATERIALIZED (SELECT to_json(a) AS state FROM (${accessTo(userId, vaultId)}) a),
    chosen AS MATERIALIZED (
      SELECT ctid AS at, id, updated_at, octet_length(encrypted_data) + 512 AS size ${wanted} ORDER BY id LIMIT ${rows}
    ),
    part AS MATERIALIZED (
      SELECT at, (row_number() OVER w)::integer AS n, sum(size) OVER w - size AS before
      FROM chosen WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
    )
    SELECT CASE WHEN n IS NULL OR n = 1 THEN json_build_object(
        'access', state, 'digest', ${digest}, 'found', (SELECT count(*) FROM chosen), 'end', ${end}
      ) END AS head,
      n, id, vault_id, type, encrypted_data, created_at, updated_at
    FROM access LEFT JOIN (part JOIN records ON records.ctid = at) ON before < ${mostBytes} AND n < ${rows}
  `);
  // A join guarantees no order.
  const sorted = found.filter((row) => row.id !== null).sort((a, b) => a.n - b.n);
  const first = found.find((row) => row.head !== null)?.head ?? null;
  return {
    access: first?.access ?? null,
    digest: first?.digest ?? "",
    rows: sorted,
    more: first !== null && first.found > sorted.length,
    end: first?.end ?? null,
  };
}

function conditionsOf({ type, updatedSince, after, until }: RecordQuery) {
  const none = sql.fragment``;
  return sql.fragment`
    ${type === undefined ? none : sql.fragment`AND type = ${type}`}
    ${updatedSince === undefined ? none : sql.fragment`AND updated_at >= ${updatedSince}::timestamptz`}
    ${after === undefined ? none : sql.fragment`AND id > ${after}::uuid`}
    ${until === undefined ? none : sql.fragment`AND id <= ${until}::uuid`}`;
}
