import { type Fragment, type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

// The writes of a rotation, one statement per table. The folder is locked as `whole`.

const sealedSecret = z.object({
  uid: z.string(),
  version: z.number(),
  titled: z.boolean(),
  field_names: z.array(z.string()),
});
/** The parts of a secret that the folder's key encrypts: its DEK, its title if any, its fields. */
export type SealedSecret = z.infer<typeof sealedSecret>;

/** The secrets of a folder: all, or those with these uids. */
export function listSealedSecrets(
  db: Queryable,
  folderId: string,
  uids?: readonly string[],
): Promise<readonly SealedSecret[]> {
  const named = uids === undefined ? sql.fragment`` : sql.fragment`AND uid = ANY(${sql.array([...uids], "text")})`;
  return db.any(sql.type(sealedSecret)`
    SELECT uid, version, title_encrypted <> '' AS titled, field_names FROM secrets
    WHERE folder_id = ${folderId} ${named}
  `);
}

/** A secret whose values are encrypted with the new key. */
export interface ResealedSecret {
  uid: string;
  version: number;
  /** The payload under a new DEK; undefined when payload and DEK are not changed. */
  encrypted_payload?: string | undefined;
  wrapped_dek: string;
  title_encrypted?: string | undefined;
  fields?: Record<string, string> | undefined;
}

/** The secrets of a request as the rows `sent`, with their fields as text. */
export function sentSecrets(secrets: readonly ResealedSecret[]): Fragment {
  const rows = secrets.map(({ uid, version, encrypted_payload, wrapped_dek, title_encrypted = "", fields = {} }) => [
    uid,
    version,
    encrypted_payload ?? null,
    wrapped_dek,
    title_encrypted,
    JSON.stringify(fields),
  ]);
  return sql.fragment`${sql.unnest(rows, ["text", "int4", "text", "text", "text", "text"])}
    AS sent (uid, version, encrypted_payload, wrapped_dek, title_encrypted, fields)`;
}

/** The folder of a rotation, with its next key version. */
export interface NextKey {
  folderId: string;
  keyVersion: number;
  now: Date;
}

/** Replaces the encrypted values; returns how many of the secrets matched. */
export function resealSecrets(tx: Queryable, next: NextKey, secrets: readonly ResealedSecret[]): Promise<number> {
  return resealFrom(tx, next, sentSecrets(secrets));
}

/** Does the same as `resealSecrets` with rows `sent`. */
export async function resealFrom(
  tx: Queryable,
  { folderId, keyVersion, now }: NextKey,
  source: Fragment,
): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE secrets s SET wrapped_dek = sent.wrapped_dek, title_encrypted = sent.title_encrypted,
      encrypted_payload = coalesce(sent.encrypted_payload, s.encrypted_payload),
      fields = sent.fields::jsonb, key_version = ${keyVersion}, version = s.version + 1,
      updated_at = greatest(${now.toISOString()}::timestamptz, s.updated_at + interval '1 microsecond')
    FROM ${source}
    WHERE s.folder_id = ${folderId} AND s.uid = sent.uid AND s.version = sent.version
  `);
  return rowCount;
}

/** A folder's key for one member or machine; nulls where nothing may be encrypted for it. */
export type HolderKey = { id: string } & (
  { encryptedKey: string; alg: "box-user" | "jwe" } | { encryptedKey: null; alg: null }
);

/**
 * Stores the new key for these people and deletes the old one of all others with a grant. Returns
 * how many have the new key.
 */
export function replaceMemberKeys(tx: Queryable, folderId: string, keys: readonly HolderKey[]): Promise<number> {
  return tx.oneFirst(sql.type(replaced)`
    WITH replaced AS (
      UPDATE folder_members g SET encrypted_key = sent.encrypted_key, encrypted_key_alg = sent.alg
      FROM folder_members present LEFT JOIN ${sentKeys(keys)} ON sent.id = present.user_id
      WHERE present.folder_id = ${folderId} AND g.folder_id = present.folder_id AND g.user_id = present.user_id
      RETURNING sent.id
    ) SELECT count(id) AS count FROM replaced
  `);
}

/** Does the same as `replaceMemberKeys` for machines. */
export function replaceClientKeys(tx: Queryable, folderId: string, keys: readonly HolderKey[]): Promise<number> {
  return tx.oneFirst(sql.type(replaced)`
    WITH replaced AS (
      UPDATE client_folders g SET encrypted_key = sent.encrypted_key, encrypted_key_alg = sent.alg
      FROM client_folders present LEFT JOIN ${sentKeys(keys)} ON sent.id = present.client_id
      WHERE present.folder_id = ${folderId} AND g.folder_id = present.folder_id AND g.client_id = present.client_id
      RETURNING sent.id
    ) SELECT count(id) AS count FROM replaced
  `);
}

const replaced = z.object({ count: z.number() });

function sentKeys(keys: readonly HolderKey[]) {
  const rows = keys.map(({ id, encryptedKey, alg }) => [id, encryptedKey, alg]);
  return sql.fragment`${sql.unnest(rows, ["uuid", "text", "text"])} AS sent (id, encrypted_key, alg)`;
}

/**
 * The people and machines with a grant, in the form of the history (`user:<id>`, `client:<id>`):
 * including suspended people and auditors, but no revoked or expired machine.
 */
export function listGrantees(db: Queryable, folderId: string, now: Date): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ who: z.string() }))`
    SELECT 'user:' || user_id AS who FROM folder_members WHERE folder_id = ${folderId}
    UNION ALL
    SELECT 'client:' || c.id FROM client_folders g JOIN clients c ON c.id = g.client_id
    WHERE g.folder_id = ${folderId} AND c.revoked_at IS NULL
      AND (c.expires_at IS NULL OR c.expires_at > ${now.toISOString()}::timestamptz)
  `);
}

/** Deletes a folder's key from every one-time token: the machine then bootstraps without it. */
export async function dropTokenKeys(tx: Queryable, folderId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE access_token_folders SET encrypted_folder_key = NULL
    WHERE folder_id = ${folderId} AND encrypted_folder_key IS NOT NULL
  `);
}

export async function setKeyVersion(
  tx: Queryable,
  { folderId, keyVersion, now }: { folderId: string; keyVersion: number; now: Date },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE folders SET key_version = ${keyVersion},
      updated_at = greatest(${now.toISOString()}::timestamptz, updated_at + interval '1 microsecond')
    WHERE id = ${folderId}
  `);
}
