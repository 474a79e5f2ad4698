import { auditAppend, type AuditDraft, recordsChanged } from "@coffer/events";
import { laneOf, outboxColumns, outboxValues } from "@coffer/outbox";
import { briefly, briefWaits, type Database, eachOf, isUniqueViolation } from "@coffer/postgres";
import { idOfDeleted } from "./records.ts";
import { tryWriterLock } from "./advisory-locks.ts";

// One statement, which commits by itself, writes the records of all concurrent requests
// (docs/adr/0014). For each request it checks visibility and permission, writes, and enqueues event
// and audit record. It does not wait for a change of visibility: it writes nothing, and the caller
// authorizes again.

/**
 * The requested writes: the columns of `valuesOf`, `more`, and the position `n`. Of several writes
 * of one record only the first is done; the others are retried, so that each sees the one before
 * it. The order of ids avoids deadlocks.
 */
const requestedWrites = (more: Record<string, string>): string => `
  SELECT DISTINCT ON (id, vault_id) *, (SELECT access_version FROM vaults v WHERE v.id = requested.vault_id) AS access_version
  FROM ${eachOf({
    vault_id: "uuid",
    user_id: "uuid",
    id: "uuid",
    event_id: "uuid",
    audit_id: "uuid",
    audit: "text",
    now: "timestamptz",
    key_version: "integer",
    ...more,
  })}
  ORDER BY id, vault_id, n`;

/**
 * The requested writes whose vault the person sees and may write to, under the shared lock. If
 * visibility changed between the snapshot and the lock, `access_version` differs and the write is
 * left out.
 */
const heldVaults = `
  SELECT requested.*, v.org_id, ${briefWaits} FROM requested JOIN vaults v ON v.id = requested.vault_id
  WHERE ${tryWriterLock("requested.vault_id")}
    AND v.access_version = requested.access_version
    AND (requested.key_version IS NULL OR v.key_version = requested.key_version)
    AND EXISTS (
      SELECT FROM sights s WHERE s.user_id = requested.user_id AND s.vault_id = requested.vault_id AND s.ended_x IS NULL
    )
    AND EXISTS (
      SELECT FROM vault_members m
      WHERE m.vault_id = requested.vault_id AND m.user_id = requested.user_id AND m.permission IN ('write', 'manage')
    )
  FOR KEY SHARE OF v SKIP LOCKED`;

const timestamp = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The outbox messages of the writes, from `notes`, which omits the content: every write reads all
 * of `notes`. The audit record gets `org_id` from the vault.
 */
function messages(action: "record_created" | "record_updated" | "record_deleted"): string {
  const event = `json_build_object('vault_id', written.vault_id, 'changes', json_build_array(json_build_object(
    'action', '${action}', 'record_id', written.id, 'updated_at', ${timestamp("written.updated_at")})))`;
  const record = `('[{"org_id":' || coalesce('"' || notes.org_id || '"', 'null') || ',' || notes.audit)`;
  return `
    INSERT INTO outbox (${outboxColumns})
    SELECT message.* FROM written JOIN notes USING (id, vault_id) CROSS JOIN LATERAL (VALUES
      ${outboxValues(recordsChanged, { id: "notes.event_id", payload: event })},
      ${outboxValues(auditAppend, { id: "notes.audit_id", payload: record })}
    ) AS message (${outboxColumns})`;
}

/** A write by a person, with its audit record. */
interface Write {
  userId: string;
  vaultId: string;
  id: string;
  eventId: string;
  /** The `org_id` of the vault replaces its own. */
  audit: AuditDraft;
  now: Date;
}

export interface WrittenRecord {
  id: string;
  created_at: string;
  updated_at: string;
}

/** `id` null: the vault is writable, but the record did not match. */
type Written = WrittenRecord | { id: null };

export type RecordWrites = ReturnType<typeof createRecordWrites>;

/**
 * Prepares the statements. Each function returns null, and writes nothing, if the person may not
 * write, or after a conflict: visibility just changed, or another write has locked the record.
 */
export function createRecordWrites(database: Database) {
  const write = (
    name: string,
    action: Parameters<typeof messages>[0],
    { more, change }: { more: Record<string, string>; change: string },
  ) =>
    briefly(
      database.preparedWriteEach<Written>(
        name,
        `WITH requested AS MATERIALIZED (${requestedWrites(more)}), held AS MATERIALIZED (${heldVaults}),
           notes AS MATERIALIZED (SELECT vault_id, id, org_id, event_id, audit_id, audit FROM held),
           ${change}, enqueued AS (${messages(action)})
         SELECT held.n::integer AS n, written.id, written.created_at, written.updated_at
         FROM held LEFT JOIN written USING (id, vault_id)`,
        { announces: laneOf(recordsChanged) },
      ),
      null,
    );
  const insert = write("insert-records", "record_created", {
    more: { type: "text", encrypted_data: "text" },
    change: `written AS (
       INSERT INTO records (vault_id, id, type, encrypted_data, created_at, updated_at)
       SELECT vault_id, id, type, encrypted_data, now, now FROM held
       WHERE NOT EXISTS (SELECT FROM tombstones t WHERE t.id = held.id)
         AND NOT EXISTS (SELECT FROM records r WHERE r.id = held.id)
       ORDER BY id
       ON CONFLICT DO NOTHING
       RETURNING vault_id, id, created_at, updated_at
     )`,
  });
  const replace = write("replace-records", "record_updated", {
    more: { type: "text", encrypted_data: "text", expected: "timestamptz" },
    // The server timestamp of a record only grows, also if the clock goes back.
    change: `written AS (
       UPDATE records r SET type = held.type, encrypted_data = held.encrypted_data, x = pg_current_xact_id(),
         updated_at = greatest(held.now, r.updated_at + interval '1 microsecond')
       FROM held
       WHERE r.vault_id = held.vault_id AND r.id = held.id AND (held.expected IS NULL OR r.updated_at = held.expected)
       RETURNING r.vault_id, r.id, r.created_at, r.updated_at
     )`,
  });
  const remove = write("delete-records", "record_deleted", {
    more: { expected: "timestamptz" },
    change: `gone AS (
       DELETE FROM records r USING held
       WHERE r.vault_id = held.vault_id AND r.id = held.id AND (held.expected IS NULL OR r.updated_at = held.expected)
       RETURNING r.vault_id, r.id, r.created_x, greatest(held.now, r.updated_at + interval '1 microsecond') AS deleted_at
     ),
     written AS (
       INSERT INTO tombstones (vault_id, id, created_x, deleted_at)
       SELECT vault_id, id, created_x, deleted_at FROM gone
       ON CONFLICT (vault_id, id) DO UPDATE
         SET created_x = excluded.created_x, deleted_at = excluded.deleted_at, x = excluded.x
       RETURNING vault_id, id, deleted_at AS created_at, deleted_at AS updated_at
     )`,
  });

  return {
    /** Creates a record; `taken` if the id exists or belongs to a deleted record. */
    async insert({ content, ...to }: Write & { content: RecordContent }): Promise<WrittenRecord | "taken" | null> {
      try {
        const row = await insert([...valuesOf(to, content.key_version), content.type, content.encrypted_data]);
        return row === null ? null : present(row) ? row : "taken";
      } catch (error) {
        if (isUniqueViolation(error, idOfDeleted)) return "taken";
        throw error;
      }
    },
    /**
     * Replaces the content, if `expected` is absent or the server timestamp; `other` without a
     * match.
     */
    async replace({
      content,
      expected,
      ...to
    }: Write & { content: RecordContent; expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
      const row = await replace([
        ...valuesOf(to, content.key_version),
        content.type,
        content.encrypted_data,
        expected ?? null,
      ]);
      return row === null ? null : present(row) ? row : "other";
    },
    /** Deletes a record under the condition of `replace`; `other` without a match. */
    async remove({
      expected,
      ...to
    }: Write & { expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
      const row = await remove([...valuesOf(to), expected ?? null]);
      return row === null ? null : present(row) ? row : "other";
    },
  };
}

interface RecordContent {
  type: string;
  encrypted_data: string;
  /** The version of the sealing key; undefined if the client did not send it. */
  key_version?: number | undefined;
}

function present(row: Written): row is WrittenRecord {
  return row.id !== null;
}

function valuesOf({ userId, vaultId, id, eventId, audit, now }: Write, keyVersion?: number): unknown[] {
  const { org_id, ...record } = audit;
  return [
    vaultId,
    userId,
    id,
    eventId,
    audit.id,
    `${JSON.stringify(record).slice(1)}]`,
    now.toISOString(),
    keyVersion ?? null,
  ];
}
