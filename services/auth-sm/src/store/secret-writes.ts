import type { AuditDraft } from "@coffer/events";
import { auditAppend, folderChanged } from "@coffer/events";
import type { Database } from "@coffer/postgres";
import { auditPayload, briefly, briefWaits, outboxColumns, outboxValues } from "@coffer/postgres";
import type { z } from "zod";
import type { Actor } from "../audit.ts";
import { foldCase } from "../fold-case.ts";
import { momentAfter, momentOf } from "../moment.ts";
import { tryWritersTurn } from "./folder-turn.ts";
import type { SecretReceiptRow } from "./secrets.ts";

// A secret is written in one statement, which commits by itself (docs/adr/0010): the caller has judged what it read, and
// the statement writes, with the audit record and the event, if all of that is still so. Nobody waits for the event: the
// relay's next look takes it, together with those of other writes. It waits for no lock of a transaction that has
// more to do: while a folder is rotated or deleted, it writes nothing and says so.

const receiptColumns = "uid, folder_id, record_type, created_at, updated_at, version, key_version";

/**
 * The folder as it was judged, while the caller ($4 a client, or a person in the session $5) may still write; kept so
 * until the commit.
 */
const heldFolder = `
  SELECT id, org_id, key_version, ${briefWaits}
  FROM folders f
  WHERE id = $1 AND org_id = $2 AND key_version = $3 AND ${tryWritersTurn("f.id")} AND (
    EXISTS (
      SELECT FROM client_folders g JOIN clients c ON c.id = g.client_id
      WHERE g.client_id = $4 AND g.folder_id = f.id AND g.permission = 'write' AND c.revoked_at IS NULL
    ) OR EXISTS (
      SELECT FROM sessions s
      JOIN folder_members g ON g.user_id = s.user_id AND g.folder_id = f.id
      JOIN memberships m ON m.user_id = g.user_id AND m.org_id = f.org_id
      WHERE s.id = $5 AND s.revoked_at IS NULL AND g.permission IN ('write', 'manage')
        AND m.status = 'active' AND m.role <> 'auditor'
    )
  )
  FOR KEY SHARE SKIP LOCKED`;

/** What a write leaves when `written` has a row: the parameters are the messages' id, the audit record and the event. */
const messages = (id: string, record: string, news: string): string => `
  INSERT INTO outbox (${outboxColumns})
  SELECT message.* FROM written CROSS JOIN (VALUES
    ${outboxValues(auditAppend, { id, payload: record })},
    ${outboxValues(folderChanged, { id, payload: news })}
  ) AS message (${outboxColumns})`;

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
 * somebody else has kept the secret locked.
 */
export function createSecretWrites(database: Database) {
  const write = <Row>(name: string, text: string) => briefly(database.preparedWrite<Row>(name, text), []);
  const insert = write<SecretReceiptRow | { uid: null }>(
    "insert-secret",
    `WITH folder AS MATERIALIZED (${heldFolder}),
     written AS (
       INSERT INTO secrets (org_id, uid, folder_id, record_type, title, title_folded, title_encrypted,
         encrypted_payload, wrapped_dek, fields, field_names, key_version, version, created_at, updated_at)
       SELECT org_id, $6, id, $7, $8, $9, coalesce($10::text, ''), $11, $12, $13, $14, key_version, 1, $15, $15
       FROM folder
       ON CONFLICT ON CONSTRAINT secrets_uid_key DO NOTHING
       RETURNING ${receiptColumns}
     ),
     told AS (${messages("$16", "$17", "$18")})
     SELECT written.* FROM folder LEFT JOIN written ON true`,
  );
  const replace = write<SecretReceiptRow>(
    "replace-secret",
    `WITH folder AS MATERIALIZED (${heldFolder}),
     written AS (
       UPDATE secrets SET
         title = coalesce($9, title),
         title_folded = coalesce($10, title_folded),
         title_encrypted = coalesce($11, title_encrypted),
         encrypted_payload = $12,
         wrapped_dek = $13,
         fields = $14,
         field_names = $15,
         key_version = $3,
         version = version + 1,
         updated_at = $16
       WHERE org_id = (SELECT org_id FROM folder) AND uid = $6 AND folder_id = $1 AND version = $7 AND updated_at = $8
       RETURNING ${receiptColumns}
     ),
     told AS (${messages("$17", "$18", "$19")})
     SELECT * FROM written`,
  );
  const remove = write<{ uid: string }>(
    "delete-secret",
    `WITH folder AS MATERIALIZED (${heldFolder}),
     written AS (
       DELETE FROM secrets
       WHERE org_id = (SELECT org_id FROM folder) AND uid = $6 AND folder_id = $1 AND version = $7 AND updated_at = $8
       RETURNING uid
     ),
     told AS (${messages("$9", "$10", "$11")})
     SELECT * FROM written`,
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
      const [row] = await insert([
        ...folderValues(folder),
        uid,
        recordType,
        ...contentValues(content),
        at,
        ...messageValues(folder, audit, at),
      ]);
      if (row === undefined) return null;
      return row.uid === null ? "taken" : row;
    },
    /** Replaces the content of the secret `present`. */
    async replace({ present, content, folder, now, audit }: Updated): Promise<SecretReceiptRow | null> {
      const at = momentAfter(present.updated_at, now);
      const [row] = await replace([
        ...folderValues(folder),
        ...presentValues(present),
        ...contentValues(content),
        at,
        ...messageValues(folder, audit, at),
      ]);
      return row ?? null;
    },
    /** Removes the secret `present` for good. */
    async remove({ present, folder, now, audit }: Removed): Promise<true | null> {
      const at = momentAfter(present.updated_at, now);
      const values = [...folderValues(folder), ...presentValues(present), ...messageValues(folder, audit, at)];
      const [row] = await remove(values);
      return row === undefined ? null : true;
    },
  };
}

const folderValues = ({ actor, folderId, orgId, keyVersion }: JudgedFolder) => [
  folderId,
  orgId,
  keyVersion,
  actor.type === "client" ? actor.id : null,
  actor.type === "user" ? (actor.session_id ?? null) : null,
];

const presentValues = ({ uid, version, updated_at }: SecretReceiptRow) => [uid, version, updated_at];

/** The event has the id of the record: they are told to others. */
function messageValues({ folderId }: JudgedFolder, audit: AuditDraft, at: string) {
  const news: z.infer<typeof folderChanged.payload> = {
    id: audit.id,
    folder_id: folderId,
    change: "secrets",
    updated_at: at,
    user_ids: [],
  };
  return [audit.id, auditPayload(audit), JSON.stringify(news)];
}

function contentValues({ title, title_encrypted, encrypted_payload, wrapped_dek, fields = {} }: SecretContent) {
  return [
    title ?? null,
    title === undefined ? null : foldCase(title),
    title_encrypted ?? null,
    encrypted_payload,
    wrapped_dek,
    JSON.stringify(fields),
    Object.keys(fields).sort(),
  ];
}
