import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import { permissions } from "../access/permission.ts";
import { vaultTypes } from "./vaults.ts";

/** What a vault is to a person: everything that decides what the person may do with it. */
export const vaultAccess = z.object({
  id: z.string(),
  org_id: z.string().nullable(),
  type: z.enum(vaultTypes),
  key_version: z.number(),
  /** Null for who is not its member. */
  permission: z.enum(permissions).nullable(),
  /** The person sees it now. */
  seen: z.boolean(),
  /** It would be seen, or not, for other reasons; but the person travels and it is not safe. */
  hidden_by_travel: z.boolean(),
  /** The person belongs to the vault's organization, in whichever state. */
  belongs: z.boolean(),
});
export type VaultAccessRow = z.infer<typeof vaultAccess>;

/** SQL of one row of `vaultAccess`; of none for a vault that there is not. */
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

/** What a vault is to a person, or null when there is none of this id. */
export function findVaultAccess(db: Queryable, userId: string, vaultId: string): Promise<VaultAccessRow | null> {
  return db.maybeOne(sql.type(vaultAccess)`${accessTo(userId, vaultId)}`);
}
