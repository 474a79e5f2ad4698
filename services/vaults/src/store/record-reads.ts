import type { Database } from "@coffer/postgres";
import type { RecordRow } from "./records.ts";

/** A record in a vault that the person sees: `id` null when the vault has no such record. */
export type SeenRecord = { org_id: string | null } & (RecordRow | { id: null });

export type RecordReads = ReturnType<typeof createRecordReads>;

/** Prepares the statement that devices repeat all day: one round trip for who sees the vault and what is in it. */
export function createRecordReads(database: Database) {
  const read = database.prepared<SeenRecord>(
    "read-record",
    `SELECT s.org_id, r.id, r.vault_id, r.type, r.encrypted_data, r.created_at, r.updated_at
     FROM sights s LEFT JOIN records r ON r.vault_id = s.vault_id AND r.id = $3
     WHERE s.user_id = $1 AND s.vault_id = $2 AND s.ended_x IS NULL`,
  );
  return {
    /** Null when the person does not see the vault, whatever the reason. */
    record: async (userId: string, vaultId: string, id: string): Promise<SeenRecord | null> =>
      (await read([userId, vaultId, id]))[0] ?? null,
  };
}
