import { permissions } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

export const vaultTypes = ["personal", "shared"] as const;
export type VaultType = (typeof vaultTypes)[number];

export const vaultRow = z.object({
  id: z.string(),
  org_id: z.string().nullable(),
  name: z.string(),
  type: z.enum(vaultTypes),
  safe_for_travel: z.boolean(),
  key_version: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  permission: z.enum(permissions),
  encrypted_key: z.string().nullable(),
  history_seq: z.number().nullable(),
  pin_version: z.number().nullable(),
  pin_sealed: z.string().nullable(),
  record_count: z.number(),
});
/** A vault with the state of one member. */
export type VaultRow = z.infer<typeof vaultRow>;

const columns = sql.fragment`v.id, v.org_id, v.name, v.type, v.safe_for_travel, v.key_version, v.created_at,
  v.updated_at, v.history_seq, m.permission, m.encrypted_key, p.version AS pin_version, p.sealed AS pin_sealed,
  (SELECT count(*) FROM records r WHERE r.vault_id = v.id) AS record_count`;
/** The vaults that a person sees: those with a row in `sights` without an end. */
const visibleTo = (userId: string) => sql.fragment`
  FROM sights s
  JOIN vaults v ON v.id = s.vault_id
  JOIN vault_members m ON m.vault_id = v.id AND m.user_id = s.user_id
  LEFT JOIN vault_pins p ON p.vault_id = v.id AND p.user_id = s.user_id
  WHERE s.user_id = ${userId} AND s.ended_x IS NULL`;

/** Inserts an empty vault. Throws on a taken id (`vaults_pkey`). */
export async function insertVault(
  tx: Queryable,
  vault: { id: string; orgId: string | null; name: string; type: VaultType; now: Date },
): Promise<void> {
  const now = vault.now.toISOString();
  await tx.query(sql.typeAlias("void")`
    INSERT INTO vaults (id, org_id, name, type, created_at, updated_at)
    VALUES (${vault.id}, ${vault.orgId}, ${vault.name}, ${vault.type}, ${now}, ${now})
  `);
}

/** Whether a vault of this id was deleted, while `deleted_vaults` has it. */
export function wasDeleted(db: Queryable, id: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM deleted_vaults WHERE id = ${id}`);
}

export function vaultState(tx: Queryable, id: string): Promise<Pick<VaultRow, "name" | "safe_for_travel">> {
  return tx.one(sql.type(vaultRow.pick({ name: true, safe_for_travel: true }))`
    SELECT name, safe_for_travel FROM vaults WHERE id = ${id}
  `);
}

/** A vault for one of its members, visible or not; null if the person is not a member. */
export function findMembersVault(db: Queryable, id: string, userId: string): Promise<VaultRow | null> {
  return db.maybeOne(sql.type(vaultRow)`
    SELECT ${columns} FROM vaults v JOIN vault_members m ON m.vault_id = v.id
    LEFT JOIN vault_pins p ON p.vault_id = v.id AND p.user_id = m.user_id
    WHERE v.id = ${id} AND m.user_id = ${userId}
  `);
}

/** Null if the person does not see the vault. */
export function findVisibleVault(db: Queryable, id: string, userId: string): Promise<VaultRow | null> {
  return db.maybeOne(sql.type(vaultRow)`SELECT ${columns} ${visibleTo(userId)} AND v.id = ${id}`);
}

/** Changes the name or flag. Returns `updated_at`, which only grows, also if the clock goes back. */
export function changeVault(
  tx: Queryable,
  vault: { id: string; name: string; safeForTravel: boolean; now: Date },
): Promise<string> {
  return tx.oneFirst(sql.type(z.object({ updated_at: z.string() }))`
    UPDATE vaults SET name = ${vault.name}, safe_for_travel = ${vault.safeForTravel}, x = pg_current_xact_id(),
      updated_at = ${later(vault.now)}
    WHERE id = ${vault.id} RETURNING updated_at
  `);
}

/**
 * Marks a change of members or permissions: devices sync it, and writers authorize again
 * (`access_version`). Returns the new `updated_at` of each vault.
 */
export function touchVaults(
  tx: Queryable,
  ids: readonly string[],
  now: Date,
): Promise<readonly { id: string; updated_at: string }[]> {
  return tx.any(sql.type(vaultRow.pick({ id: true, updated_at: true }))`
    UPDATE vaults SET x = pg_current_xact_id(), access_version = access_version + 1,
      updated_at = ${later(now)}
    WHERE id = ANY(${sql.array([...new Set(ids)], "uuid")}) RETURNING id, updated_at
  `);
}

/** The time, but later than `updated_at`. */
const later = (now: Date) =>
  sql.fragment`greatest(${now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')`;
