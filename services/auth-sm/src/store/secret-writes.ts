import type { AuditDraft } from "@coffer/events";
import { auditAppend, folderChanged } from "@coffer/events";
import type { Database } from "@coffer/postgres";
import { auditPayload, briefly, briefWaits, eachOf, outboxColumns, outboxValues } from "@coffer/postgres";
import type { z } from "zod";
import type { Actor } from "../audit.ts";
import { foldCase } from "../fold-case.ts";
import { momentAfter, momentOf } from "../moment.ts";
import { tryWritersTurn } from "./folder-turn.ts";
import type { SecretReceiptRow } from "./secrets.ts";
import { receiptOf } from "./secrets.ts";

// Secrets are written in one statement, which commits by itself (docs/adr/0010), by as many requests as there are at the
// time: each caller has judged what it read, and the statement writes, with the audit record and the event, if all of that
// is still so. Nobody waits for the event: the relay's next look takes it, together with those of other writes. It waits for
// no lock of a transaction that has more to do: while a folder is rotated or deleted, it writes nothing there and says so.

const receiptColumns = ["uid", "folder_id", "record_type", "created_at", "updated_at", "version", "key_version"];
/** `receiptColumns` of the table, or of the part of a statement, by that name. */
const receiptFrom = (table: string): string => receiptColumns.map((column) => `${table}.${column}`).join(", ");

/**
 * What is asked, in the order of `valuesOf` and with `more` behind, beside its place `n`. Of several writes of one secret
 * the first is done, and the others are judged anew: each is to see the one before it. In the order of the uids nobody waits
 * for somebody who waits for them.
 */
const askedOf = (more: Record<string, string>): string => `
  SELECT DISTINCT ON (org_id, uid) * FROM ${eachOf({
    folder_id: "uuid",
    org_id: "uuid",
    folder_key_version: "integer",
    client_id: "uuid",
    session_id: "uuid",
    uid: "text",
    now: "timestamptz",
    message_id: "uuid",
    audit: "text",
    news: "text",
    ...more,
  })} ORDER BY org_id, uid, n`;

/**
 * What is asked, with the folder as it was judged, while the caller (a client, or a person in a session) may still write;
 * kept so until the commit.
 */
const heldFolders = `
  SELECT asked.*, ${briefWaits}
  FROM asked JOIN folders f ON f.id = asked.folder_id
  WHERE ${tryWritersTurn("asked.folder_id")} AND f.org_id = asked.org_id AND f.key_version = asked.folder_key_version
    AND (
      EXISTS (
        SELECT FROM client_folders g JOIN clients c ON c.id = g.client_id
        WHERE g.client_id = asked.client_id AND g.folder_id = f.id AND g.permission = 'write' AND c.revoked_at IS NULL
      ) OR EXISTS (
        SELECT FROM sessions s
        JOIN folder_members g ON g.user_id = s.user_id AND g.folder_id = f.id
        JOIN memberships m ON m.user_id = g.user_id AND m.org_id = f.org_id
        WHERE s.id = asked.session_id AND s.revoked_at IS NULL AND g.permission IN ('write', 'manage')
          AND m.status = 'active' AND m.role <> 'auditor'
      )
    )
  FOR KEY SHARE OF f SKIP LOCKED`;

/** What the writes leave, of `notes`: for each write all of them are read, which is to be without the content. */
const messages = `
  INSERT INTO outbox (${outboxColumns})
  SELECT message.* FROM written JOIN notes USING (org_id, uid) CROSS JOIN LATERAL (VALUES
    ${outboxValues(auditAppend, { id: "notes.message_id", payload: "notes.audit" })},
    ${outboxValues(folderChanged, { id: "notes.message_id", payload: "notes.news" })}
  ) AS message (${outboxColumns})`;

/** The values of `contentValues`. */
const contentColumns = {
  title: "text",
  title_folded: "text",
  title_encrypted: "text",
  encrypted_payload: "text",
  wrapped_dek: "text",
  fields: "text",
  field_names: "text",
};
const fieldNames = "ARRAY(SELECT json_array_elements_text(held.field_names::json))";

/** The secret as it was judged, of the values of `presentValues`. */
const presentColumns = { version: "integer", updated_at: "timestamptz" };
const present = `s.org_id = held.org_id AND s.uid = held.uid AND s.folder_id = held.folder_id
         AND s.version = held.version AND s.updated_at = held.updated_at`;

/** What a client writes of a secret. `title` undefined leaves it as it is on an update, and absent on a creation. */
export interface SecretContent {
  encrypted_payload: string;
  wrapped_dek: string;
  fields?: Record<string, string> | undefined;
  title?: string | undefined;
  title_encrypted?: string | undefined;
}

/** Who writes into which folder, as it was read when the right to it was judged. */
export interface JudgedFolder {
  actor: Actor;
  orgId: string;
  folderId: string;
  keyVersion: number;
}

/** A write that was judged: what it rests on, and its record. */
interface Judged {
  folder: JudgedFolder;
  audit: AuditDraft;
}

type Removed = { present: SecretReceiptRow; now: Date } & Judged;
type Updated = Removed & { content: SecretContent };

/** A new secret; `taken` when the organization has one with that uid. */
export type Inserted = SecretReceiptRow | "taken";

export type SecretWrites = ReturnType<typeof createSecretWrites>;

/**
 * Prepares the statements. Each function returns null, and has written nothing, when what was judged is no longer so, or
 * somebody else has kept the secret locked, or writes it at the same moment.
 */
export function createSecretWrites(database: Database) {
  const write = (name: string, more: Record<string, string>, change: string) =>
    briefly(
      database.preparedWriteEach<Answer>(
        name,
        `WITH asked AS MATERIALIZED (${askedOf(more)}), held AS MATERIALIZED (${heldFolders}),
         notes AS MATERIALIZED (SELECT org_id, uid, message_id, audit, news FROM held),
         written AS (${change}), told AS (${messages})
         SELECT held.n::integer AS n, ${receiptFrom("written")} FROM held LEFT JOIN written USING (org_id, uid)`,
      ),
      null,
    );
  const insert = write(
    "insert-secrets",
    { record_type: "text", ...contentColumns },
    `INSERT INTO secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
         encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
       SELECT org_id, uid, folder_id, record_type, title, title_folded, coalesce(title_encrypted, ''),
         encrypted_payload, wrapped_dek, fields::jsonb, ${fieldNames}, folder_key_version, 1, now, now
       FROM held ORDER BY org_id, uid
       ON CONFLICT ON CONSTRAINT secrets_uid_key DO NOTHING
       RETURNING org_id, ${receiptFrom("secrets")}`,
  );
  const replace = write(
    "replace-secrets",
    { ...presentColumns, ...contentColumns },
    `UPDATE secrets s SET
         title = coalesce(held.title, s.title),
         title_folded = coalesce(held.title_folded, s.title_folded),
         title_encrypted = coalesce(held.title_encrypted, s.title_encrypted),
         encrypted_payload = held.encrypted_payload,
         wrapped_dek = held.wrapped_dek,
         fields = held.fields::jsonb,
         field_names = ${fieldNames},
         key_version = held.folder_key_version,
         version = s.version + 1,
         updated_at = held.now
       FROM held WHERE ${present}
       RETURNING s.org_id, ${receiptFrom("s")}`,
  );
  const remove = write(
    "delete-secrets",
    presentColumns,
    `DELETE FROM secrets s USING held WHERE ${present} RETURNING s.org_id, ${receiptFrom("s")}`,
  );

  return {
    /** Inserts a secret. */
    async insert({
      uid,
      recordType,
      content,
      folder,
      now,
      audit,
    }: { uid: string; recordType: string; content: SecretContent; now: Date } & Judged): Promise<Inserted | null> {
      const at = momentOf(now);
      const row = await insert([...valuesOf({ folder, uid, at, audit }), recordType, ...contentValues(content)]);
      return row && (writtenOf(row) ?? "taken");
    },
    /** Replaces the content of the secret `present`. */
    async replace({ present, content, folder, now, audit }: Updated): Promise<SecretReceiptRow | null> {
      const at = momentAfter(present.updated_at, now);
      const row = await replace([
        ...valuesOf({ folder, uid: present.uid, at, audit }),
        ...presentValues(present),
        ...contentValues(content),
      ]);
      return row && writtenOf(row);
    },
    /** Removes the secret `present` for good. */
    async remove({ present, folder, now, audit }: Removed): Promise<true | null> {
      const at = momentAfter(present.updated_at, now);
      const row = await remove([...valuesOf({ folder, uid: present.uid, at, audit }), ...presentValues(present)]);
      return row && writtenOf(row) && true;
    },
  };
}

/** What a statement says of a write that found its folder as it was judged: `uid` null when it did not find its secret so. */
type Answer = SecretReceiptRow | { uid: null };

/** Null when nothing was written. */
function writtenOf(row: Answer): SecretReceiptRow | null {
  return row.uid === null ? null : receiptOf(row);
}

/** The values of each write. The event has the id of the record: they are told to others. */
function valuesOf({ folder, uid, at, audit }: { uid: string; at: string } & Judged): unknown[] {
  const { actor, folderId, orgId, keyVersion } = folder;
  const news: z.infer<typeof folderChanged.payload> = {
    id: audit.id,
    folder_id: folderId,
    change: "secrets",
    updated_at: at,
    user_ids: [],
  };
  return [
    folderId,
    orgId,
    keyVersion,
    actor.type === "client" ? actor.id : null,
    actor.type === "user" ? (actor.session_id ?? null) : null,
    uid,
    at,
    audit.id,
    auditPayload(audit),
    JSON.stringify(news),
  ];
}

const presentValues = ({ version, updated_at }: SecretReceiptRow) => [version, updated_at];

function contentValues({ title, title_encrypted, encrypted_payload, wrapped_dek, fields = {} }: SecretContent) {
  return [
    title ?? null,
    title === undefined ? null : foldCase(title),
    title_encrypted ?? null,
    encrypted_payload,
    wrapped_dek,
    JSON.stringify(fields),
    JSON.stringify(Object.keys(fields).sort()),
  ];
}
