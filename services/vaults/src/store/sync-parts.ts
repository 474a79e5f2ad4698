import { recordDeletion } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { Position } from "./sync-pages.ts";
import { position } from "./sync-pages.ts";

const part = z.object({
  /** The changes as the client's answer lists them, in JSON with a comma between two, and how many bytes each has. */
  changes: z.string(),
  change_lengths: z.array(z.number()),
  deleted: z.array(recordDeletion),
  /** How many records of each organization (null: of a person's own vaults) are in `changes`. */
  handed_out: z.array(z.object({ org_id: z.string().nullable(), count: z.number() })),
  /** How many entries these are together, and behind which one the next part begins; null when there is none. */
  told: z.number(),
  end: position.nullable(),
});
/** What a device has to be told of: records that it gets as they are now, and those that are gone, or out of sight. */
export type RecordPart = z.infer<typeof part>;

/** What a change or a deletion takes in an answer besides its data, at most. */
const bytesAround = 320;

export interface PartQuery {
  userId: string;
  /** The watermark of the device's last sync; `0` for one that has nothing. */
  fromX: string;
  /** Null: from the beginning. */
  after: Position | null;
  /** Leaves out what was changed, and does not read it. */
  onlyDeleted: boolean;
  /** At most so many entries, and at least one, that take at most so many bytes. */
  entries: number;
  bytes: number;
}

const nil = "00000000-0000-0000-0000-000000000000";
const beginning: Position = { vault_id: nil, kind: 0, x: "0", id: nil };
/** After every transaction there will ever be. */
const endOfAll = { x: "18446744073709551615", id: nil };

/** A timestamp as all answers have it: ISO 8601 in UTC with microseconds. */
const isoText = (at: ReturnType<typeof sql.fragment>) =>
  sql.fragment`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The WITH queries up to `entry`: what a person's device may have missed since `fromX` and may know, in the order of vault,
 * kind, x and id, at most so many. One statement, so that one snapshot decides who sees what and how it is.
 *
 * A vault in sight: its records changed since; all of them when the sight began since. Deletions: of the records that
 * it had in a sight that lasts or ended since (made before that ended, not deleted before it began) those deleted
 * since, and when it is out of sight all. A device that has nothing is told of no deletions.
 */
function withEntries(
  { userId, fromX: watermark, after: from, onlyDeleted }: Pick<PartQuery, "userId" | "fromX" | "after" | "onlyDeleted">,
  atMost: number,
) {
  const after = from ?? beginning;
  const fromX = sql.fragment`${watermark}::xid8`;
  const firstVault = sql.fragment`${after.vault_id}::uuid`;
  // In the vault at which this part begins: its changes come before its deletions.
  const change = after.kind === 0 ? after : endOfAll;
  const deletion = after.kind === 0 ? beginning : after;
  const limit = sql.fragment`LIMIT ${atMost}::integer`;
  /** From `since` on, or behind the place. One bound, so that the index is entered there. */
  const goesOn = (since: typeof fromX, place: { x: string; id: string }) => sql.fragment`
    (x, id) >= (
      CASE WHEN seen.here THEN ${place.x}::xid8 ELSE ${since} END,
      CASE WHEN seen.here THEN ${place.id}::uuid ELSE ${nil}::uuid END
    ) AND (NOT seen.here OR (x, id) <> (${place.x}::xid8, ${place.id}::uuid))`;
  return sql.fragment`
    sight AS (
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
      FROM sight GROUP BY vault_id
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
            AND x >= from_x AND ${goesOn(sql.fragment`from_x`, change)}
          ORDER BY x, id ${limit}
        )
        UNION ALL
        (
          SELECT 1, x, id, NULL, NULL, false, CASE WHEN seen.present THEN deleted_at ELSE seen.ended_at END
          FROM tombstones
          WHERE ${fromX} > '0' AND vault_id = seen.vault_id AND x >= ${fromX} AND ${goesOn(fromX, deletion)}
            AND EXISTS (
              SELECT FROM unnest(seen.began, seen.ended) AS sight (began, ended)
              WHERE NOT pg_visible_in_snapshot(x, began)
                AND (ended IS NULL OR pg_visible_in_snapshot(created_x, ended))
            )
          ORDER BY x, id ${limit}
        )
        UNION ALL
        (
          SELECT 1, x, id, NULL, NULL, false, seen.ended_at
          FROM records
          WHERE NOT seen.present AND vault_id = seen.vault_id AND ${goesOn(sql.fragment`'0'::xid8`, deletion)}
            AND EXISTS (SELECT FROM unnest(seen.ended) AS sight (ended) WHERE pg_visible_in_snapshot(created_x, ended))
          ORDER BY x, id ${limit}
        )
      ) e
      ORDER BY seen.vault_id, e.kind, e.x, e.id ${limit}
    )`;
}

/**
 * A part of what a person's device may have missed since `fromX` and may know. Postgres writes the changes as they are
 * sent: ids, times, types and base64 have nothing in them that JSON would escape.
 */
export function readPart(db: Queryable, { entries, bytes, ...query }: PartQuery): Promise<RecordPart> {
  // One more than is told, which says whether there is more.
  const entry = withEntries(query, entries + 1);
  return db.one(sql.type(part)`
    WITH ${entry},
    told AS MATERIALIZED (
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
        (SELECT json_agg(h) FROM (SELECT org_id, count(*) FROM told WHERE kind = 0 GROUP BY org_id) h), '[]'
      ) AS handed_out,
      count(*)::integer AS told,
      (
        SELECT json_build_object('vault_id', vault_id, 'kind', kind, 'x', x::text, 'id', id)
        FROM told last WHERE number = (SELECT count(*) FROM told) AND number < found
      ) AS end
    FROM told
  `);
}

/** Whether a person's device that has all up to `fromX` may have missed anything. */
export function hasEntries(db: Queryable, { userId, fromX }: Pick<PartQuery, "userId" | "fromX">): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    WITH ${withEntries({ userId, fromX, after: null, onlyDeleted: false }, 1)}
    SELECT FROM entry
  `);
}
