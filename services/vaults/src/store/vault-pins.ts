import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";

/** What a person's devices share of a vault's history, sealed; only the person's devices can open it. */
export interface SealedPin {
  version: number;
  sealed: string;
}

/** Stores the next version of a pin. False, and nothing is stored, when `version` is not the next one. */
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
