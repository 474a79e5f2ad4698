import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { type VaultRow, vaultRow } from "./vaults.ts";

/** A position in the list of vaults, which is in order of creation. */
export interface VaultKey {
  created_at: string;
  id: string;
}

/** A query for the vaults that a person sees. */
export interface VaultQuery {
  /** Only vaults after this position. */
  after: VaultKey | undefined;
  /** Only vaults up to this position. */
  until?: VaultKey | undefined;
  limit: number | undefined;
}

/** Consecutive vaults: the whole list, or as many as fit a part. */
export interface VaultPart {
  /** Changes with every change of the listed vaults; of the first part only. */
  digest: string;
  rows: readonly VaultRow[];
  /** Whether more vaults follow. */
  more: boolean;
  /** The position of the last vault that was read. */
  end: VaultKey | undefined;
}

/** A part ends with the vault that reaches 2 MiB: a key may be 64 KiB. */
const mostBytes = 2 * 1024 * 1024;
const mostRows = 1_000;

const head = {
  digest: z.string(),
  found: z.number(),
  end_created_at: z.string().nullable(),
  end_id: z.string().nullable(),
};
const listedRow = z.union([
  vaultRow.extend({ ...head, n: z.number() }),
  /** The only row if there is no vault. */
  z.object({ ...head, id: z.null() }),
]);

const countOf = sql.fragment`(SELECT count(*) FROM records r WHERE r.vault_id = v.id)`;
const ofDigest = sql.fragment`hashtextextended(m.encrypted_key, 0) AS key_hash, ${countOf} AS record_count`;
const notOfDigest = sql.fragment`NULL::bigint AS key_hash, NULL::bigint AS record_count`;

/**
 * A part of the list of vaults that a person sees: those with a row in `sights` without an end.
 * @param first whether to compute the digest and the end of a whole list. Later parts skip it:
 *   hashing keys and counting records is most of the work.
 */
export async function listVaults(
  db: Queryable,
  userId: string,
  { after, until, limit }: VaultQuery,
  { first }: { first: boolean },
): Promise<VaultPart> {
  const rows = Math.min(limit ?? mostRows, mostRows);
  const none = sql.fragment``;
  const position = ({ created_at, id }: VaultKey) => sql.fragment`(${created_at}::timestamptz, ${id}::uuid)`;
  const found = await db.any(sql.type(listedRow)`
    WITH looked AS MATERIALIZED (
      SELECT v.id, v.created_at, v.updated_at, v.key_version, v.history_seq, m.permission, p.version AS pin_version,
        coalesce(octet_length(m.encrypted_key), 0) + coalesce(octet_length(p.sealed), 0) + 1024 AS size, ${first ? ofDigest : notOfDigest}
      FROM sights s
      JOIN vaults v ON v.id = s.vault_id
      JOIN vault_members m ON m.vault_id = v.id AND m.user_id = s.user_id
      LEFT JOIN vault_pins p ON p.vault_id = v.id AND p.user_id = s.user_id
      WHERE s.user_id = ${userId} AND s.ended_x IS NULL
        ${after === undefined ? none : sql.fragment`AND (v.created_at, v.id) > ${position(after)}`}
        ${until === undefined ? none : sql.fragment`AND (v.created_at, v.id) <= ${position(until)}`}
      ORDER BY v.created_at, v.id ${first && limit === undefined ? none : sql.fragment`LIMIT ${rows + 1}`}
    ),
    part AS MATERIALIZED (
      SELECT id, record_count, (row_number() OVER w)::integer AS n, sum(size) OVER w - size AS before
      FROM looked WINDOW w AS (ORDER BY created_at, id ROWS UNBOUNDED PRECEDING)
    ),
    head AS MATERIALIZED (
      SELECT count(*)::integer AS found, count(*) || '.' || coalesce(sum(hash_record_extended(
          (id, updated_at, key_version, history_seq, permission, key_hash, pin_version, record_count), 0
        )), 0) AS digest
      FROM looked
    ),
    last AS (
      SELECT created_at AS end_created_at, id AS end_id FROM looked ORDER BY looked.created_at DESC, looked.id DESC LIMIT 1
    )
    SELECT digest, found, end_created_at, end_id, listed.*
    FROM head LEFT JOIN last ON true LEFT JOIN (
      SELECT n, v.id, v.org_id, v.name, v.type, v.safe_for_travel, v.key_version, v.created_at, v.updated_at,
        v.history_seq, m.permission, m.encrypted_key, p.version AS pin_version, p.sealed AS pin_sealed, coalesce(record_count, ${countOf}) AS record_count
      FROM part
      JOIN vaults v USING (id)
      JOIN vault_members m ON m.vault_id = v.id AND m.user_id = ${userId}
      LEFT JOIN vault_pins p ON p.vault_id = v.id AND p.user_id = ${userId}
      WHERE before < ${mostBytes} AND n <= ${rows}
    ) listed ON true
  `);
  // A join guarantees no order.
  const listed = found.filter((row) => row.id !== null).sort((a, b) => a.n - b.n);
  const [one] = found;
  const { end_created_at: created_at, end_id: id } = one ?? { end_created_at: null, end_id: null };
  return {
    digest: one?.digest ?? "",
    rows: listed,
    more: (one?.found ?? 0) > listed.length,
    end: created_at === null || id === null ? undefined : { created_at, id },
  };
}
