import type { HistoryState, Resource } from "@coffer/history";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Only `storeEntry` writes a state, after every check of its entry.
const stored = z.object({ state: z.custom<HistoryState>((state) => typeof state === "object" && state !== null) });

/** The newest state of a history; null without a history. */
export function findHistory(db: Queryable, res: Resource): Promise<HistoryState | null> {
  return db.maybeOneFirst(sql.type(stored)`SELECT state FROM histories WHERE res = ${res}`);
}

export function hasHistory(db: Queryable, res: Resource): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM histories WHERE res = ${res}`);
}

/** Whether the newest state of a history names this member or machine with this public key. */
export function hasHolder(db: Queryable, res: Resource, { who, key }: { who: string; key: string }): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM histories WHERE res = ${res} AND state -> 'holders' @> ${JSON.stringify([{ who, key }])}::jsonb
  `);
}

const cutAt = z.object({ seq: z.number().nullable() });

/**
 * The entry up to which an organization's history accepts what a removed person signed with this
 * key.
 * @param name the name of the folder's history, as `cutName` gives it
 * @returns any safe integer, since a service may have named an entry that no history has; null for a
 * person who was never removed with that key, or whose cut does not name the history
 */
export async function findCut(
  db: Queryable,
  res: Resource,
  { who, key }: { who: string; key: string },
  name: string,
): Promise<number | null> {
  const found = await db.maybeOne(sql.type(cutAt)`
    SELECT (f.former #>> ARRAY['cut', ${name}, '0'])::float8 AS seq
    FROM histories, jsonb_array_elements(state -> 'former') AS f (former)
    WHERE res = ${res} AND f.former ->> 'who' = ${who} AND f.former ->> 'key' = ${key}
  `);
  return found?.seq ?? null;
}

/** Stores a checked entry with the state after it. The caller has locked the resource. */
export async function storeEntry(
  tx: Queryable,
  { orgId, state, entry }: { orgId: string; state: HistoryState; entry: string },
): Promise<void> {
  const { res, head } = state;
  const folderId = res.startsWith("folder:") ? res.slice("folder:".length) : null;
  await tx.query(sql.typeAlias("void")`
    INSERT INTO histories (res, org_id, folder_id, state)
    VALUES (${res}, ${orgId}, ${folderId}, ${JSON.stringify(state)}::jsonb)
    ON CONFLICT (res) DO UPDATE SET state = excluded.state
  `);
  await tx.query(sql.typeAlias("void")`
    INSERT INTO history_entries (res, seq, entry) VALUES (${res}, ${head.seq}, ${entry})
  `);
  await tx.query(
    folderId === null
      ? sql.typeAlias("void")`UPDATE orgs SET history_seq = ${head.seq} WHERE id = ${orgId}`
      : sql.typeAlias("void")`UPDATE folders SET history_seq = ${head.seq} WHERE id = ${folderId}`,
  );
}

/** The limits of a page. A page always has at least one entry. */
const mostEntries = 500;
const mostCharacters = 1024 * 1024;

const page = z.object({ data: z.array(z.string()), history_seq: z.number().nullable() });
/** Consecutive entries; `history_seq` is the number of the newest entry, null without a history. */
export type HistoryPage = z.infer<typeof page>;

/** The entries of a history after number `after`, or from the first. */
export function listEntries(db: Queryable, res: Resource, after = -1): Promise<HistoryPage> {
  return db.one(sql.type(page)`
    WITH measured AS (
      SELECT seq, entry, sum(length(entry)) OVER (ORDER BY seq) AS characters, row_number() OVER (ORDER BY seq) AS n
      FROM (
        SELECT seq, entry FROM history_entries WHERE res = ${res} AND seq > ${after} ORDER BY seq LIMIT ${mostEntries}
      ) AS following
    )
    SELECT (SELECT max(seq) FROM history_entries WHERE res = ${res}) AS history_seq,
      coalesce(
        (SELECT json_agg(entry ORDER BY seq) FROM measured WHERE n = 1 OR characters <= ${mostCharacters}), '[]'
      ) AS data
  `);
}

const headRow = z.object({ res: z.string(), seq: z.number(), hash: z.string() });

/**
 * The newest entries of an organization's folder histories that name this person as a member or
 * signer.
 */
export function listHeldFolders(
  db: Queryable,
  orgId: string,
  userId: string,
): Promise<readonly z.infer<typeof headRow>[]> {
  const person = JSON.stringify([{ who: `user:${userId}` }]);
  return db.any(sql.type(headRow)`
    SELECT res, (state #>> '{head,seq}')::integer AS seq, state #>> '{head,hash}' AS hash
    FROM histories
    WHERE org_id = ${orgId} AND folder_id IS NOT NULL
      AND (state -> 'holders' @> ${person}::jsonb OR state -> 'signers' @> ${person}::jsonb)
  `);
}

const managed = z.object({ id: z.string(), name: z.string(), granted: z.boolean() });

/**
 * The folders of an organization whose history names this person as the only manager who is still a
 * member. `granted`: whether the person `viewerId` has a grant on it.
 */
export function listSoleManagedFolders(
  db: Queryable,
  { orgId, userId, viewerId }: { orgId: string; userId: string; viewerId: string },
): Promise<readonly z.infer<typeof managed>[]> {
  return db.any(sql.type(managed)`
    SELECT f.id, f.name,
      EXISTS (SELECT FROM folder_members g WHERE g.folder_id = f.id AND g.user_id = ${viewerId}) AS granted
    FROM histories h JOIN folders f ON f.id = h.folder_id
    WHERE h.org_id = ${orgId}
      AND h.state -> 'holders' @> ${JSON.stringify([{ who: `user:${userId}`, perm: "manage" }])}::jsonb
      AND NOT EXISTS (
        SELECT FROM jsonb_to_recordset(h.state -> 'holders') AS holder (who text, perm text)
        JOIN memberships m ON m.org_id = h.org_id AND 'user:' || m.user_id = holder.who
        WHERE holder.perm = 'manage' AND m.user_id <> ${userId}
      )
    ORDER BY f.name_folded
  `);
}
