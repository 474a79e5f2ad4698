import { type Queryable, sql } from "@coffer/postgres";

/** A pin that a person's devices share; only they can open it. */
export interface SealedPin {
  version: number;
  sealed: string;
}

/**
 * Stores the next version of a pin. Returns false, and stores nothing, if `version` is not the
 * next.
 */
export async function putPin(
  tx: Queryable,
  { vaultId, userId, version, sealed }: SealedPin & { vaultId: string; userId: string },
): Promise<boolean> {
  const { rowCount } =
    version === 1
      ? await tx.query(sql.typeAlias("void")`
          INSERT INTO vault_pins (vault_id, user_id, version, sealed)
          VALUES (${vaultId}, ${userId}, 1, ${sealed}) ON CONFLICT DO NOTHING
        `)
      : await tx.query(sql.typeAlias("void")`
          UPDATE vault_pins SET version = ${version}, sealed = ${sealed}
          WHERE vault_id = ${vaultId} AND user_id = ${userId} AND version = ${version - 1}
        `);
  return rowCount === 1;
}
