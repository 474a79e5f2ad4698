import { auditAppend, type AuditDraft, folderChanged } from "@coffer/events";
import type { Actor } from "@coffer/http";
import { auditPayload, prepareGroupedWrite } from "@coffer/outbox";
import type { Database } from "@coffer/postgres";
import type { z } from "zod";
import { foldCase } from "../../fold-case.ts";
import { momentAfter, momentOf } from "../../moment.ts";
import { tryWriterLock } from "../folders/folder-lock.ts";
import { receiptOf, type SecretReceiptRow } from "./secrets.ts";

// One statement writes secrets for all requests that wait at the time (docs/adr/0010). Each request was
// authorized by an earlier read. The statement writes only what is unchanged since that read (an
// optimistic check). Writers do not wait for the event: the relay takes it with its next poll. While a
// folder is rotated or deleted, the statement writes nothing there.

const receiptColumns = [
  "uid",
  "folder_id",
  "record_type",
  "created_at",
  "updated_at",
  "version",
  "key_version",
  "expires_at",
];
/** `receiptColumns` of a table or CTE. */
const receiptFrom = (table: string): string => receiptColumns.map((column) => `${table}.${column}`).join(", ");

/** The values of `valuesOf`. */
const columns = {
  folder_id: "uuid",
  org_id: "uuid",
  folder_key_version: "integer",
  client_id: "uuid",
  session_id: "uuid",
  uid: "text",
  now: "timestamptz",
  message_id: "uuid",
  audit: "text",
  event: "text",
};

/** The folder is unchanged, and the caller (a client, or a person in a session) may still write. */
const mayWrite = `
  ${tryWriterLock("requested.folder_id")} AND f.org_id = requested.org_id AND f.key_version = requested.folder_key_version
  AND (
    EXISTS (
      SELECT FROM client_folders g JOIN clients c ON c.id = g.client_id
      WHERE g.client_id = requested.client_id AND g.folder_id = f.id AND g.permission = 'write' AND c.revoked_at IS NULL
    ) OR EXISTS (
      SELECT FROM sessions s
      JOIN folder_members g ON g.user_id = s.user_id AND g.folder_id = f.id
      JOIN memberships m ON m.user_id = g.user_id AND m.org_id = f.org_id
      WHERE s.id = requested.session_id AND s.revoked_at IS NULL AND g.permission IN ('write', 'manage')
        AND m.status = 'active' AND m.role <> 'auditor'
    )
  )`;

/** The values of `contentValues`. */
const contentColumns = {
  title: "text",
  title_folded: "text",
  title_encrypted: "text",
  encrypted_payload: "text",
  wrapped_dek: "text",
  fields: "text",
  field_names: "text",
  expires_at: "timestamptz",
  changes_expiry: "boolean",
};
const fieldNames = "ARRAY(SELECT json_array_elements_text(held.field_names::json))";

/** The secret as it was authorized, from the values of `presentValues`. */
const presentColumns = { version: "integer", updated_at: "timestamptz" };
const present = `s.org_id = held.org_id AND s.uid = held.uid AND s.folder_id = held.folder_id
         AND s.version = held.version AND s.updated_at = held.updated_at`;

/**
 * The content of a secret. An undefined `title` or `expires_at` is not changed by an update, and
 * absent in a new secret.
 */
export interface SecretContent {
  encrypted_payload: string;
  wrapped_dek: string;
  fields?: Record<string, string> | undefined;
  title?: string | undefined;
  title_encrypted?: string | undefined;
  /** In the format of the columns; null for never. */
  expires_at?: string | null | undefined;
}

/** The writer and the folder, as read when the write was authorized. */
export interface AuthorizedFolder {
  actor: Actor;
  orgId: string;
  folderId: string;
  keyVersion: number;
}

/** An authorized write with its audit record. */
interface AuthorizedWrite {
  folder: AuthorizedFolder;
  audit: AuditDraft;
}

type Removed = { present: SecretReceiptRow; now: Date } & AuthorizedWrite;
type Updated = Removed & { content: SecretContent };

/** The new secret; `taken` when the organization has one with that uid. */
export type Inserted = SecretReceiptRow | "taken";

export type SecretWrites = ReturnType<typeof createSecretWrites>;

/**
 * Prepares the statements. Each function returns null, without having written, when anything has
 * changed since the authorization, or when another write has the secret locked.
 */
export function createSecretWrites(database: Database) {
  const write = (name: string, more: Record<string, string>, change: string) =>
    prepareGroupedWrite<Answer>(database, {
      name,
      key: ["org_id", "uid"],
      columns: { ...columns, ...more },
      authorized: { from: "JOIN folders f ON f.id = requested.folder_id", where: mayWrite, locked: "f" },
      change: `written AS (${change})`,
      noted: ["message_id", "audit", "event"],
      messages: [
        { subject: auditAppend, id: "notes.message_id", payload: "notes.audit" },
        { subject: folderChanged, id: "notes.message_id", payload: "notes.event" },
      ],
      answer: receiptColumns,
    });
  const insert = write(
    "insert-secrets",
    { record_type: "text", ...contentColumns },
    `INSERT INTO secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
         encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at, expires_at)
       SELECT org_id, uid, folder_id, record_type, title, title_folded, coalesce(title_encrypted, ''),
         encrypted_payload, wrapped_dek, fields::jsonb, ${fieldNames}, folder_key_version, 1, now, now, expires_at
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
         updated_at = held.now,
         expires_at = CASE WHEN held.changes_expiry THEN held.expires_at ELSE s.expires_at END
       FROM held WHERE ${present}
       RETURNING s.org_id, ${receiptFrom("s")}`,
  );
  const remove = write(
    "delete-secrets",
    presentColumns,
    `DELETE FROM secrets s USING held WHERE ${present} RETURNING s.org_id, ${receiptFrom("s")}`,
  );

  return {
    async insert({
      uid,
      recordType,
      content,
      folder,
      now,
      audit,
    }: {
      uid: string;
      recordType: string;
      content: SecretContent;
      now: Date;
    } & AuthorizedWrite): Promise<Inserted | null> {
      const at = momentOf(now);
      const row = await insert([...valuesOf({ folder, uid, at, audit }), recordType, ...contentValues(content)]);
      return row && (writtenOf(row) ?? "taken");
    },
    async replace({ present, content, folder, now, audit }: Updated): Promise<SecretReceiptRow | null> {
      const at = momentAfter(present.updated_at, now);
      const row = await replace([
        ...valuesOf({ folder, uid: present.uid, at, audit }),
        ...presentValues(present),
        ...contentValues(content),
      ]);
      return row && writtenOf(row);
    },
    async remove({ present, folder, now, audit }: Removed): Promise<true | null> {
      const at = momentAfter(present.updated_at, now);
      const row = await remove([...valuesOf({ folder, uid: present.uid, at, audit }), ...presentValues(present)]);
      return row && writtenOf(row) && true;
    },
  };
}

/** The row of a write whose folder was unchanged; `uid` is null when its secret was not. */
type Answer = SecretReceiptRow | { uid: null };

/** Null when nothing was written. */
function writtenOf(row: Answer): SecretReceiptRow | null {
  return row.uid === null ? null : receiptOf(row);
}

/**
 * The values of one write. The event and the audit record share an id: different consumers read
 * them.
 */
function valuesOf({ folder, uid, at, audit }: { uid: string; at: string } & AuthorizedWrite): unknown[] {
  const { actor, folderId, orgId, keyVersion } = folder;
  const event: z.infer<typeof folderChanged.payload> = {
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
    JSON.stringify(event),
  ];
}

const presentValues = ({ version, updated_at }: SecretReceiptRow) => [version, updated_at];

function contentValues({
  title,
  title_encrypted,
  encrypted_payload,
  wrapped_dek,
  fields = {},
  expires_at,
}: SecretContent) {
  return [
    title ?? null,
    title === undefined ? null : foldCase(title),
    title_encrypted ?? null,
    encrypted_payload,
    wrapped_dek,
    JSON.stringify(fields),
    JSON.stringify(Object.keys(fields).sort()),
    expires_at ?? null,
    expires_at !== undefined,
  ];
}
