import { auditAppend, recordsChanged } from "@coffer/events";
import type { AuditDraft } from "@coffer/events";
import type { Database } from "@coffer/postgres";
import { briefly, briefWaits, isUniqueViolation, outboxColumns, outboxValues } from "@coffer/postgres";
import { idOfDeleted } from "./records.ts";
import { tryWritersTurn } from "./vault-turn.ts";

// A record is written in one statement that commits by itself (docs/adr/0014): it looks whether the person sees the vault
// and may write there, writes, and leaves the event and the audit record. It waits for nobody who changes who sees the
// vault: then it writes nothing and says so, and the caller judges anew.

/**
 * The vault, if person $2 sees it and may write there. It is held with other writers until the commit; whoever changes
 * who sees it holds it alone. One that was changed so between the statement's beginning and the lock has another
 * `access_version` than the statement saw at first, and is not written to.
 */
const heldVault = `
  SELECT v.id, v.org_id, ${briefWaits} FROM vaults v
  WHERE v.id = $1 AND ${tryWritersTurn("v.id")}
    AND v.access_version = (SELECT access_version FROM vaults WHERE id = $1)
    AND EXISTS (SELECT FROM sights s WHERE s.user_id = $2 AND s.vault_id = $1 AND s.ended_x IS NULL)
    AND EXISTS (
      SELECT FROM vault_members m WHERE m.vault_id = $1 AND m.user_id = $2 AND m.permission IN ('write', 'manage')
    )
  FOR KEY SHARE OF v SKIP LOCKED`;

/** A moment as answers and events have it. */
const timestamp = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The messages of a write: parameters $4 the event's id, $5 the audit record's and $6 that record without `org_id`, which
 * the vault has.
 */
function messages(action: "record_created" | "record_updated" | "record_deleted"): string {
  const news = `json_build_object('vault_id', written.vault_id, 'changes', json_build_array(json_build_object(
    'action', '${action}', 'record_id', written.id, 'updated_at', ${timestamp("written.updated_at")})))`;
  const record = `('[{"org_id":' || coalesce('"' || vault.org_id || '"', 'null') || ',' || $6)`;
  return `
    INSERT INTO outbox (${outboxColumns})
    SELECT message.* FROM written CROSS JOIN vault CROSS JOIN LATERAL (VALUES
      ${outboxValues(recordsChanged, { id: "$4", payload: news })},
      ${outboxValues(auditAppend, { id: "$5", payload: record })}
    ) AS message (${outboxColumns})`;
}

/** A write by a person, with what it is recorded as. */
interface Write {
  userId: string;
  vaultId: string;
  id: string;
  eventId: string;
  /** Its `org_id` is of no account: the vault's is written. */
  audit: AuditDraft;
  now: Date;
}

/** What a write says of the record: when it was made, and its server timestamp. */
export interface WrittenRecord {
  id: string;
  created_at: string;
  updated_at: string;
}

/** `id` null: the vault was there to be written to, but not the record as it was wanted. */
type Written = WrittenRecord | { id: null };

export type RecordWrites = ReturnType<typeof createRecordWrites>;

/**
 * Prepares the statements. Each function returns null, and has written nothing, when the person may not write there, or
 * this was just being changed, or somebody else has kept the record locked.
 */
export function createRecordWrites(database: Database) {
  const write = (name: string, action: Parameters<typeof messages>[0], change: string) =>
    briefly(
      database.preparedWrite<Written>(
        name,
        `WITH vault AS MATERIALIZED (${heldVault}), ${change}, told AS (${messages(action)})
         SELECT written.id, written.created_at, written.updated_at FROM vault LEFT JOIN written ON true`,
        { leaves: recordsChanged },
      ),
    );
  const insert = write(
    "insert-record",
    "record_created",
    `written AS (
       INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
       SELECT id, $3, $7, $8, $9, $9 FROM vault
       WHERE NOT EXISTS (SELECT FROM tombstones t WHERE t.id = $3)
         AND NOT EXISTS (SELECT FROM records r WHERE r.id = $3)
       ON CONFLICT DO NOTHING
       RETURNING vault_id, id, created_at, updated_at
     )`,
  );
  const replace = write(
    "replace-record",
    "record_updated",
    // The server timestamp of a record only grows, whatever the clock does.
    `written AS (
       UPDATE records SET type = $7, encrypted_data = $8, x = pg_current_xact_id(),
         updated_at = greatest($9, updated_at + interval '1 microsecond')
       WHERE vault_id = (SELECT id FROM vault) AND id = $3 AND ($10::timestamptz IS NULL OR updated_at = $10)
       RETURNING vault_id, id, created_at, updated_at
     )`,
  );
  const remove = write(
    "delete-record",
    "record_deleted",
    `gone AS (
       DELETE FROM records
       WHERE vault_id = (SELECT id FROM vault) AND id = $3 AND ($8::timestamptz IS NULL OR updated_at = $8)
       RETURNING vault_id, id, created_x, created_at, updated_at
     ),
     written AS (
       INSERT INTO tombstones (vault_id, id, created_x, deleted_at)
       SELECT vault_id, id, created_x, greatest($7, updated_at + interval '1 microsecond') FROM gone
       ON CONFLICT (vault_id, id) DO UPDATE
         SET created_x = excluded.created_x, deleted_at = excluded.deleted_at, x = excluded.x
       RETURNING vault_id, id, deleted_at AS created_at, deleted_at AS updated_at
     )`,
  );

  return {
    /** Makes a record; `taken` when the id is, also by a record that was deleted. */
    async insert({ content, ...to }: Write & { content: RecordContent }): Promise<WrittenRecord | "taken" | null> {
      try {
        const [row] = await insert([...valuesOf(to), content.type, content.encrypted_data, to.now.toISOString()]);
        return row === undefined ? null : present(row) ? row : "taken";
      } catch (error) {
        if (isUniqueViolation(error, idOfDeleted)) return "taken";
        throw error;
      }
    },
    /**
     * Replaces a record's content, and with `expected` (a moment) only if that is its server timestamp; `other` when
     * there is no such record.
     */
    async replace({
      content,
      expected,
      ...to
    }: Write & { content: RecordContent; expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
      const values = [...valuesOf(to), content.type, content.encrypted_data, to.now.toISOString(), expected ?? null];
      const [row] = await replace(values);
      return row === undefined ? null : present(row) ? row : "other";
    },
    /** Removes a record, under the same condition; `other` when there is no such record. */
    async remove({
      expected,
      ...to
    }: Write & { expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
      const [row] = await remove([...valuesOf(to), to.now.toISOString(), expected ?? null]);
      return row === undefined ? null : present(row) ? row : "other";
    },
  };
}

/** What a client writes of a record. */
interface RecordContent {
  type: string;
  encrypted_data: string;
}

function present(row: Written): row is WrittenRecord {
  return row.id !== null;
}

function valuesOf({ userId, vaultId, id, eventId, audit }: Write): unknown[] {
  const { org_id, ...record } = audit;
  return [vaultId, userId, id, eventId, audit.id, `${JSON.stringify(record).slice(1)}]`];
}
