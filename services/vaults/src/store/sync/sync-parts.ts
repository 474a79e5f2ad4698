import { recordDeletion } from "@coffer/events";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { type Position, position } from "./sync-pages.ts";

const part = z.object({
  /** The changes as JSON of the client's response, separated by commas, and the bytes of each. */
  changes: z.string(),
  change_lengths: z.array(z.number()),
  deleted: z.array(recordDeletion),
  /** The number of records in `changes` by organization (null: personal vaults). */
  handed_out: z.array(z.object({ org_id: z.string().nullable(), count: z.number() })),
  /** The number of entries, and the last one if more follow. */
  listed: z.number(),
  end: position.nullable(),
});
/**
 * A part of a sync response: changed records, and records that were deleted or became invisible.
 */
export type RecordPart = z.infer<typeof part>;

/** The most bytes of a change or deletion besides its ciphertext. */
const bytesAround = 320;

export interface PartQuery {
  userId: string;
  /** The watermark of the device's last sync; `0` for a first sync. */
  fromX: string;
  /** Null: from the beginning. */
  after: Position | null;
  /** Skips changes. */
  onlyDeleted: boolean;
  /** The limits of a part; a part has at least one entry. */
  entries: number;
  bytes: number;
}

const nil = "00000000-0000-0000-0000-000000000000";
const start: Position = { vault_id: nil, kind: 0, x: "0", id: nil };
/** After every possible transaction. */
const endOfAll = { x: "18446744073709551615", id: nil };

/** ISO 8601 in UTC with microseconds. */
const isoText = (at: ReturnType<typeof sql.fragment>) =>
  sql.fragment`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The WITH queries up to `entry`: a person's changes since `fromX`, in the order of vault, kind, x
 * and id. One statement, so that visibility and records come from one snapshot.
 *
 * Changes: the changed records of a visible vault; all records if visibility began since.
 * Deletions: records deleted since, if the person could see them in a period that lasts or ended
 * since (created before it ended, not deleted before it began); all records of a vault that became
 * invisible. None for a first sync.
 */
function withEntries(
  { userId, fromX: watermark, after: from, onlyDeleted }: Pick<PartQuery, "userId" | "fromX" | "after" | "onlyDeleted">,
  atMost: number,
) {
  const after = from ?? start;
  const fromX = sql.fragment`${watermark}::xid8`;
  const firstVault = sql.fragment`${after.vault_id}::uuid`;
  // In the first vault of this part. Changes come before deletions.
  const change = after.kind === 0 ? after : endOfAll;
  const deletion = after.kind === 0 ? start : after;
  const limit = sql.fragment`LIMIT ${atMost}::integer`;
  /** From `since` on, or after the position. One bound, so that the index scan starts there. */
  const afterPosition = (since: typeof fromX, at: { x: string; id: string }) => sql.fragment`
    (x, id) >= (
      CASE WHEN seen.here THEN ${at.x}::xid8 ELSE ${since} END,
      CASE WHEN seen.here THEN ${at.id}::uuid ELSE ${nil}::uuid END
    ) AND (NOT seen.here OR (x, id) <> (${at.x}::xid8, ${at.id}::uuid))`;
  return sql.fragment`
    period AS (
      SELECT vault_id, org_id, began_x, began_snapshot, ended_snapshot, ended_at FROM sights
      WHERE user_id = ${userId} AND vault_id >= ${firstVault} AND ended_x IS NULL
      UNION ALL
      SELECT vault_id, org_id, began_x, began_snapshot, ended_snapshot, ended_at FROM sights
      WHERE user_id = ${userId} AND vault_id >= ${firstVault} AND ended_x >= ${fromX} AND ${fromX} > '0'
    ),
    seen AS (
      SELECT vault_id, (array_agg(org_id))[1] AS org_id, bool_or(ended_at IS NULL) AS present,
        bool_or(ended_at IS NULL AND began_x >= ${fromX}) AS whole, max(ended_at) AS ended_at,
        array_agg(began_snapshot) AS began, array_agg(ended_snapshot) AS ended
      FROM period GROUP BY vault_id
    ),
    entry AS (
      SELECT seen.vault_id, seen.org_id, e.*
      FROM (
        SELECT *, vault_id = ${firstVault} AS here, CASE WHEN whole THEN '0' ELSE ${fromX} END AS from_x
        FROM seen ORDER BY vault_id
      ) seen
      CROSS JOIN LATERAL (
        (
          SELECT 0 AS kind, x, id, type, encrypted_data, seen.whole OR created_x >= ${fromX} AS created, updated_at AS at
          FROM records
          WHERE NOT ${onlyDeleted}::boolean AND seen.present AND vault_id = seen.vault_id
            AND x >= from_x AND ${afterPosition(sql.fragment`from_x`, change)}
          ORDER BY x, id ${limit}
        )
        UNION ALL
        (
          SELECT 1, x, id, NULL, NULL, false, CASE WHEN seen.present THEN deleted_at ELSE seen.ended_at END
          FROM tombstones
          WHERE ${fromX} > '0' AND vault_id = seen.vault_id AND x >= ${fromX} AND ${afterPosition(fromX, deletion)}
            AND EXISTS (
              SELECT FROM unnest(seen.began, seen.ended) AS period (began, ended)
              WHERE NOT pg_visible_in_snapshot(x, began)
                AND (ended IS NULL OR pg_visible_in_snapshot(created_x, ended))
            )
          ORDER BY x, id ${limit}
        )
        UNION ALL
        (
          SELECT 1, x, id, NULL, NULL, false, seen.ended_at
          FROM records
          WHERE NOT seen.present AND vault_id = seen.vault_id AND ${afterPosition(sql.fragment`'0'::xid8`, deletion)}
            AND EXISTS (SELECT FROM unnest(seen.ended) AS period (ended) WHERE pg_visible_in_snapshot(created_x, ended))
          ORDER BY x, id ${limit}
        )
      ) e
      ORDER BY seen.vault_id, e.kind, e.x, e.id ${limit}
    )`;
}

/**
 * A part of a person's changes since `fromX`. Postgres writes them as the JSON that is sent: ids,
 * times, types and base64 need no escapes.
 */
export function readPart(db: Queryable, { entries, bytes, ...query }: PartQuery): Promise<RecordPart> {
  // One entry more than the part shows whether more follow.
  const entry = withEntries(query, entries + 1);
  return db.one(sql.type(part)`
    WITH ${entry},
    listed AS MATERIALIZED (
      SELECT number, found, vault_id, org_id, kind, x, id, at,
        CASE kind WHEN 0 THEN concat(
          '{"id":"', id, '","vault_id":"', vault_id, '","action":"', CASE WHEN created THEN 'created' ELSE 'updated' END,
          '","type":"', type, '","updated_at":"', at, '","server_timestamp":"', at,
          '","encrypted_data":"', encrypted_data, '"}'
        ) END AS change
      FROM (
        SELECT vault_id, org_id, kind, x, id, type, encrypted_data, created, ${isoText(sql.fragment`at`)} AS at,
          count(*) OVER () AS found, row_number() OVER in_order AS number,
          sum(coalesce(octet_length(encrypted_data), 0) + ${bytesAround}::integer) OVER in_order AS through
        FROM entry
        WINDOW in_order AS (ORDER BY vault_id, kind, x, id ROWS UNBOUNDED PRECEDING)
      ) measured
      WHERE number <= ${entries}::integer AND (through <= ${bytes}::integer OR number = 1)
    )
    SELECT
      coalesce(string_agg(change, ',' ORDER BY number), '') AS changes,
      coalesce(array_agg(octet_length(change) ORDER BY number) FILTER (WHERE kind = 0), '{}') AS change_lengths,
      coalesce(
        json_agg(json_build_object('id', id, 'vault_id', vault_id, 'deleted_at', at) ORDER BY number)
          FILTER (WHERE kind = 1),
        '[]'
      ) AS deleted,
      coalesce(
        (SELECT json_agg(h) FROM (SELECT org_id, count(*) FROM listed WHERE kind = 0 GROUP BY org_id) h), '[]'
      ) AS handed_out,
      count(*)::integer AS listed,
      (
        SELECT json_build_object('vault_id', vault_id, 'kind', kind, 'x', x::text, 'id', id)
        FROM listed last WHERE number = (SELECT count(*) FROM listed) AND number < found
      ) AS end
    FROM listed
  `);
}

/** Whether anything changed for a person since `fromX`. */
export function hasEntries(db: Queryable, { userId, fromX }: Pick<PartQuery, "userId" | "fromX">): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    WITH ${withEntries({ userId, fromX, after: null, onlyDeleted: false }, 1)}
    SELECT FROM entry
  `);
}
