import { auditAppend, recordsChanged } from "@coffer/events";
import type { AuditDraft } from "@coffer/events";
import type { Database } from "@coffer/postgres";
import { briefly, briefWaits, eachOf, isUniqueViolation, outboxColumns, outboxValues } from "@coffer/postgres";
import { idOfDeleted } from "./records.ts";
import { tryWritersTurn } from "./vault-turn.ts";

// Records are written in one statement that commits by itself (docs/adr/0014), by as many requests as there are at the time:
// for each it looks whether the person sees the vault and may write there, writes, and leaves the event and the audit
// record. It waits for nobody who changes who sees a vault: then it writes nothing there, and whoever asked judges anew.

/**
 * What is asked, in the order of `valuesOf` and with `more` behind, beside its place `n`. Of several writes of one record
 * the first is done, and the others are asked again: each is to see the one before it. In the order of the ids nobody waits
 * for somebody who waits for them.
 */
const askedOf = (more: Record<string, string>): string => `
  SELECT DISTINCT ON (id, vault_id) *, (SELECT access_version FROM vaults v WHERE v.id = asked.vault_id) AS access_version
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
 * What is asked, with the vault, if the person sees it and may write there. It is held with other writers until the commit;
 * whoever changes who sees it holds it alone. One that was changed so between the statement's beginning and the lock has
 * another `access_version` than the statement saw at first, and is not written to.
 */
const heldVaults = `
  SELECT asked.*, v.org_id, ${briefWaits} FROM asked JOIN vaults v ON v.id = asked.vault_id
  WHERE ${tryWritersTurn("asked.vault_id")}
    AND v.access_version = asked.access_version
    AND (asked.key_version IS NULL OR v.key_version = asked.key_version)
    AND EXISTS (
      SELECT FROM sights s WHERE s.user_id = asked.user_id AND s.vault_id = asked.vault_id AND s.ended_x IS NULL
    )
    AND EXISTS (
      SELECT FROM vault_members m
      WHERE m.vault_id = asked.vault_id AND m.user_id = asked.user_id AND m.permission IN ('write', 'manage')
    )
  FOR KEY SHARE OF v SKIP LOCKED`;

/** A moment as answers and events have it. */
const timestamp = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The messages of the writes, of `notes`: for each write all of them are read, which is to be without the content. An audit record comes without `org_id`, which the vault has.
 */
function messages(action: "record_created" | "record_updated" | "record_deleted"): string {
  const news = `json_build_object('vault_id', written.vault_id, 'changes', json_build_array(json_build_object(
    'action', '${action}', 'record_id', written.id, 'updated_at', ${timestamp("written.updated_at")})))`;
  const record = `('[{"org_id":' || coalesce('"' || notes.org_id || '"', 'null') || ',' || notes.audit)`;
  return `
    INSERT INTO outbox (${outboxColumns})
    SELECT message.* FROM written JOIN notes USING (id, vault_id) CROSS JOIN LATERAL (VALUES
      ${outboxValues(recordsChanged, { id: "notes.event_id", payload: news })},
      ${outboxValues(auditAppend, { id: "notes.audit_id", payload: record })}
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
 * this was just being changed, or somebody else has kept the record locked, or writes it at the same moment.
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
        `WITH asked AS MATERIALIZED (${askedOf(more)}), held AS MATERIALIZED (${heldVaults}),
           notes AS MATERIALIZED (SELECT vault_id, id, org_id, event_id, audit_id, audit FROM held),
           ${change}, told AS (${messages(action)})
         SELECT held.n::integer AS n, written.id, written.created_at, written.updated_at
         FROM held LEFT JOIN written USING (id, vault_id)`,
        { leaves: recordsChanged },
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
    // The server timestamp of a record only grows, whatever the clock does.
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
    /** Makes a record; `taken` when the id is, also by a record that was deleted. */
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
     * Replaces a record's content, and with `expected` (a moment) only if that is its server timestamp; `other` when
     * there is no such record.
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
    /** Removes a record, under the same condition; `other` when there is no such record. */
    async remove({
      expected,
      ...to
    }: Write & { expected: string | undefined }): Promise<WrittenRecord | "other" | null> {
      const row = await remove([...valuesOf(to), expected ?? null]);
      return row === null ? null : present(row) ? row : "other";
    },
  };
}

/** What a client writes of a record. */
interface RecordContent {
  type: string;
  encrypted_data: string;
  /** The version of the key that it is sealed with; undefined when the client did not say. */
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
