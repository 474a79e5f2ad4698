import { permissions } from "@coffer/contract";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { vaultTypes } from "./vaults.ts";

/** Everything that decides what a person may do with a vault. */
export const vaultAccess = z.object({
  id: z.string(),
  org_id: z.string().nullable(),
  type: z.enum(vaultTypes),
  key_version: z.number(),
  /** Null if the person is not a member of the vault. */
  permission: z.enum(permissions).nullable(),
  /** The vault is visible to the person. */
  seen: z.boolean(),
  /** The person is a member and travels, and the vault is not safe for travel. */
  hidden_by_travel: z.boolean(),
  /** The person belongs to the vault's organization, active or suspended. */
  belongs: z.boolean(),
});
export type VaultAccessRow = z.infer<typeof vaultAccess>;

/** SQL of one row of `vaultAccess`; no row if the vault does not exist. */
export const accessTo = (userId: string, vaultId: string) => sql.fragment`
  SELECT v.id, v.org_id, v.type, v.key_version, m.permission, s.user_id IS NOT NULL AS seen,
    (m.user_id IS NOT NULL AND p.travelling IS TRUE AND NOT v.safe_for_travel) AS hidden_by_travel,
    coalesce(o.status <> 'removed', false) AS belongs
  FROM vaults v
  LEFT JOIN vault_members m ON m.vault_id = v.id AND m.user_id = ${userId}
  LEFT JOIN sights s ON s.vault_id = v.id AND s.user_id = ${userId} AND s.ended_x IS NULL
  LEFT JOIN people p ON p.user_id = ${userId}
  LEFT JOIN memberships o ON o.org_id = v.org_id AND o.user_id = ${userId}
  WHERE v.id = ${vaultId}`;

/** Null if the vault does not exist. */
export function findVaultAccess(db: Queryable, userId: string, vaultId: string): Promise<VaultAccessRow | null> {
  return db.maybeOne(sql.type(vaultAccess)`${accessTo(userId, vaultId)}`);
}
