import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

export const recordRow = z.object({
  id: z.string(),
  vault_id: z.string(),
  type: z.string(),
  encrypted_data: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type RecordRow = z.infer<typeof recordRow>;

export const recordColumns = sql.fragment`id, vault_id, type, encrypted_data, created_at, updated_at`;

export function recordExists(db: Queryable, vaultId: string, id: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`SELECT FROM records WHERE vault_id = ${vaultId} AND id = ${id}`);
}

/** A record that a client sends in a batch. */
export interface NewRecordRow {
  id: string;
  type: string;
  encryptedData: string;
}

/** The constraint that refuses the id of a record that was deleted during the statement. */
export const idOfDeleted = "records_not_deleted";

/**
 * Inserts records with distinct ids into a vault that the caller has locked. Skips ids that exist
 * in any vault or belong to deleted records. Returns the inserted ids. Throws (`idOfDeleted`) if a
 * record was deleted meanwhile; a retry skips its id.
 */
export function insertRecords(
  tx: Queryable,
  vaultId: string,
  records: readonly NewRecordRow[],
  at: string,
): Promise<readonly string[]> {
  const ids = sql.array(
    records.map(({ id }) => id),
    "uuid",
  );
  const types = sql.array(
    records.map(({ type }) => type),
    "text",
  );
  const data = sql.array(
    records.map(({ encryptedData }) => encryptedData),
    "text",
  );
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
    SELECT ${vaultId}::uuid, id, type, data, ${at}::timestamptz, ${at}::timestamptz
    FROM unnest(${ids}, ${types}, ${data}) AS new (id, type, data)
    WHERE NOT EXISTS (SELECT FROM tombstones t WHERE t.id = new.id)
    ON CONFLICT DO NOTHING
    RETURNING id
  `);
}
