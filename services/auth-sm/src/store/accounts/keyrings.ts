import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const keyring = z.object({ version: z.number(), sealed: z.string() });
/** The encrypted key pins that a person's devices share. */
export type Keyring = z.infer<typeof keyring>;

/** A person's keyring; null when no device has stored one. */
export function findKeyring(db: Queryable, userId: string): Promise<Keyring | null> {
  return db.maybeOne(sql.type(keyring)`SELECT version, sealed FROM keyrings WHERE user_id = ${userId}`);
}

/** Stores the next version of a person's keyring, starting with 1; false for any other version. */
export async function storeKeyring(tx: Queryable, userId: string, { version, sealed }: Keyring): Promise<boolean> {
  const { rowCount } = await tx.query(
    version === 1
      ? sql.typeAlias("void")`
          INSERT INTO keyrings (user_id, version, sealed) VALUES (${userId}, 1, ${sealed})
          ON CONFLICT (user_id) DO NOTHING
        `
      : sql.typeAlias("void")`
          UPDATE keyrings SET version = ${version}, sealed = ${sealed}
          WHERE user_id = ${userId} AND version = ${version - 1}
        `,
  );
  return rowCount === 1;
}
