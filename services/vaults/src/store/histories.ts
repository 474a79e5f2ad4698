import type { HistoryState } from "@coffer/history";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// Only `storeEntry` writes a state, after the entry was checked.
const stored = z.object({ state: z.custom<HistoryState>((state) => typeof state === "object" && state !== null) });

/** The newest state of a vault's history; null when it has none. */
export function findHistory(db: Queryable, vaultId: string): Promise<HistoryState | null> {
  return db.maybeOneFirst(sql.type(stored)`SELECT state FROM histories WHERE vault_id = ${vaultId}`);
}

/** Stores a checked entry with its state. The caller has locked the vault exclusively. */
export async function storeEntry(tx: Queryable, vaultId: string, state: HistoryState, entry: string): Promise<void> {
  const { seq } = state.head;
  await tx.query(sql.typeAlias("void")`
    INSERT INTO histories (vault_id, state) VALUES (${vaultId}, ${JSON.stringify(state)}::jsonb)
    ON CONFLICT (vault_id) DO UPDATE SET state = excluded.state
  `);
  await tx.query(sql.typeAlias("void")`
    INSERT INTO history_entries (vault_id, seq, entry) VALUES (${vaultId}, ${seq}, ${entry})
  `);
  await tx.query(sql.typeAlias("void")`UPDATE vaults SET history_seq = ${seq} WHERE id = ${vaultId}`);
}

/** The limits of a page; a single entry may exceed the characters. */
const mostEntries = 500;
const mostCharacters = 1024 * 1024;

const page = z.object({ data: z.array(z.string()), history_seq: z.number().nullable() });
/** `history_seq` is the number of the newest entry; null without a history. */
export type HistoryPage = z.infer<typeof page>;

/** The entries of a vault's history after number `after`, or from the first. */
export function listEntries(db: Queryable, vaultId: string, after = -1): Promise<HistoryPage> {
  return db.one(sql.type(page)`
    WITH measured AS (
      SELECT seq, entry, sum(length(entry)) OVER (ORDER BY seq) AS characters, row_number() OVER (ORDER BY seq) AS n
      FROM (
        SELECT seq, entry FROM history_entries WHERE vault_id = ${vaultId} AND seq > ${after}
        ORDER BY seq LIMIT ${mostEntries}
      ) AS following
    )
    SELECT (SELECT max(seq) FROM history_entries WHERE vault_id = ${vaultId}) AS history_seq,
      coalesce(
        (SELECT json_agg(entry ORDER BY seq) FROM measured WHERE n = 1 OR characters <= ${mostCharacters}), '[]'
      ) AS data
  `);
}

const head = z.object({ vault_id: z.string(), seq: z.number(), hash: z.string() });

/**
 * The newest entry of each vault of an organization whose history has the person as holder or
 * signer.
 */
export function listHeads(db: Queryable, orgId: string, userId: string): Promise<readonly z.infer<typeof head>[]> {
  const person = JSON.stringify([{ who: `user:${userId}` }]);
  return db.any(sql.type(head)`
    SELECT h.vault_id, (h.state #>> '{head,seq}')::integer AS seq, h.state #>> '{head,hash}' AS hash
    FROM histories h JOIN vaults v ON v.id = h.vault_id
    WHERE v.org_id = ${orgId}
      AND (h.state -> 'holders' @> ${person}::jsonb OR h.state -> 'signers' @> ${person}::jsonb)
  `);
}

const named = z.object({ id: z.string(), name: z.string() });

/** The vaults whose history has the person as the only manager among the organization's members. */
export function listSoleManaged(
  db: Queryable,
  orgId: string,
  userId: string,
): Promise<readonly z.infer<typeof named>[]> {
  return db.any(sql.type(named)`
    SELECT v.id, v.name
    FROM histories h JOIN vaults v ON v.id = h.vault_id
    WHERE v.org_id = ${orgId}
      AND h.state -> 'holders' @> ${JSON.stringify([{ who: `user:${userId}`, perm: "manage" }])}::jsonb
      AND NOT EXISTS (
        SELECT FROM jsonb_to_recordset(h.state -> 'holders') AS holder (who text, perm text)
        JOIN memberships m ON m.org_id = v.org_id AND 'user:' || m.user_id = holder.who
        WHERE holder.perm = 'manage' AND m.user_id <> ${userId} AND m.status <> 'removed'
      )
    ORDER BY v.name, v.id
  `);
}
