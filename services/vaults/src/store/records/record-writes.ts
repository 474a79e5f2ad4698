import { auditAppend, type AuditDraft, recordsChanged } from "@coffer/events";
import { prepareGroupedWrite } from "@coffer/outbox";
import { type Database, isUniqueViolation } from "@coffer/postgres";
import { idOfDeleted } from "./records.ts";
import { tryWriterLock } from "../advisory-locks.ts";

// One statement writes the records of all concurrent requests (docs/adr/0014). It does not wait for a
// change of visibility: it writes nothing, and the caller authorizes again.

const columns = {
  vault_id: "uuid",
  user_id: "uuid",
  id: "uuid",
  event_id: "uuid",
  audit_id: "uuid",
  audit: "text",
  now: "timestamptz",
  // A caller may send any whole number: only the version of the vault fits.
  key_version: "bigint",
};

/**
 * The person sees the vault and may write to it, under the shared lock. If visibility changed between the
 * snapshot and the lock, `access_version` differs and nothing is written.
 */
const mayWrite = `
  ${tryWriterLock("requested.vault_id")}
  AND v.access_version = requested.access_version
  AND (requested.key_version IS NULL OR v.key_version = requested.key_version)
  AND EXISTS (
    SELECT FROM sights s WHERE s.user_id = requested.user_id AND s.vault_id = requested.vault_id AND s.ended_x IS NULL
  )
  AND EXISTS (
    SELECT FROM vault_members m
    WHERE m.vault_id = requested.vault_id AND m.user_id = requested.user_id AND m.permission IN ('write', 'manage')
  )`;

const timestamp = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

type Action = "record_created" | "record_updated" | "record_deleted";

/** SQL of the JSON of an event. */
const eventOf = (action: Action): string =>
  `json_build_object('vault_id', written.vault_id, 'changes', json_build_array(json_build_object(
    'action', '${action}', 'record_id', written.id, 'updated_at', ${timestamp("written.updated_at")})))`;

/** SQL of the JSON of the audit record, with the organization of the vault. */
const auditRecord = `('[{"org_id":' || coalesce('"' || notes.org_id || '"', 'null') || ',' || notes.audit)`;

/** A write by a person, with its audit record. */
export interface RecordWrite {
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
  const write = (name: string, action: Action, { more, change }: { more: Record<string, string>; change: string }) =>
    prepareGroupedWrite<Written>(database, {
      name,
      key: ["id", "vault_id"],
      columns: { ...columns, ...more },
      snapshot: "(SELECT access_version FROM vaults v WHERE v.id = requested.vault_id) AS access_version",
      authorized: {
        also: "v.org_id",
        from: "JOIN vaults v ON v.id = requested.vault_id",
        where: mayWrite,
        locked: "v",
      },
      change,
      noted: ["org_id", "event_id", "audit_id", "audit"],
      messages: [
        { subject: recordsChanged, id: "notes.event_id", payload: eventOf(action) },
        { subject: auditAppend, id: "notes.audit_id", payload: auditRecord },
      ],
      answer: ["id", "created_at", "updated_at"],
      announces: recordsChanged,
    });
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
    async insert({
      content,
      ...to
    }: RecordWrite & { content: RecordContent }): Promise<WrittenRecord | "taken" | null> {
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
    }: RecordWrite & { content: RecordContent; expected: string | undefined }): Promise<
      WrittenRecord | "other" | null
    > {
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
    }: RecordWrite & { expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
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

function valuesOf({ userId, vaultId, id, eventId, audit, now }: RecordWrite, keyVersion?: number): unknown[] {
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
