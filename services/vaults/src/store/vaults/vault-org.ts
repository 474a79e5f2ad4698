import { uuidText } from "@coffer/http";
import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

/** The organization of a vault, if the person is an active member of it; else null. */
export async function findVaultOrg(db: Queryable, userId: string, vaultId: string | undefined): Promise<string | null> {
  const id = uuidText.safeParse(vaultId).data;
  if (id === undefined) return null;
  return db.maybeOneFirst(sql.type(z.object({ org_id: z.string() }))`
    SELECT org_id FROM vaults JOIN memberships o USING (org_id)
    WHERE vaults.id = ${id} AND o.user_id = ${userId} AND o.status = 'active'
  `);
}

/**
 * Whether a vault has no manager, and the person is an active owner or admin of its organization.
 */
export function isLeftTo(db: Queryable, userId: string, vaultId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM vaults v JOIN memberships o USING (org_id)
    WHERE v.id = ${vaultId} AND o.user_id = ${userId} AND o.status = 'active' AND o.role IN ('owner', 'admin')
      AND NOT EXISTS (SELECT FROM vault_members m WHERE m.vault_id = v.id AND m.permission = 'manage')
  `);
}
