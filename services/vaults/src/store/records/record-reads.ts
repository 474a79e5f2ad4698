import type { Database } from "@coffer/postgres";
import type { RecordRow } from "./records.ts";

/** A record in a vault that the person sees; `id` is null if the record does not exist. */
export type VisibleRecord = { org_id: string | null } & (RecordRow | { id: null });

export type RecordReads = ReturnType<typeof createRecordReads>;

/** Prepares the hot path of reads: access and record in one round trip. */
export function createRecordReads(database: Database) {
  const read = database.prepared<VisibleRecord>(
    "read-record",
    `SELECT s.org_id, r.id, r.vault_id, r.type, r.encrypted_data, r.created_at, r.updated_at
     FROM sights s LEFT JOIN records r ON r.vault_id = s.vault_id AND r.id = $3
     WHERE s.user_id = $1 AND s.vault_id = $2 AND s.ended_x IS NULL`,
  );
  return {
    /** Null if the person does not see the vault. */
    record: async (userId: string, vaultId: string, id: string): Promise<VisibleRecord | null> =>
      (await read([userId, vaultId, id]))[0] ?? null,
  };
}
