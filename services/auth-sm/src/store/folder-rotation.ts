import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

// What a rotation changes, one statement for each table whatever the folder holds. The folder is locked as `whole`.

const sealedSecret = z.object({
  uid: z.string(),
  version: z.number(),
  titled: z.boolean(),
  field_names: z.array(z.string()),
});
/** What of a secret is sealed with the folder's key: its DEK, its title where there is one, its fields. */
export type SealedSecret = z.infer<typeof sealedSecret>;

/** The secrets of a folder. */
export function listSealedSecrets(db: Queryable, folderId: string): Promise<readonly SealedSecret[]> {
  return db.any(sql.type(sealedSecret)`
    SELECT uid, version, title_encrypted <> '' AS titled, field_names FROM secrets WHERE folder_id = ${folderId}
  `);
}

/** A secret as it is sealed with the new key. */
export interface ResealedSecret {
  uid: string;
  version: number;
  wrapped_dek: string;
  title_encrypted?: string | undefined;
  fields?: Record<string, string> | undefined;
}

/** Puts what was sealed with the new key in the place of the old; returns how many of the secrets there are. */
export async function resealSecrets(
  tx: Queryable,
  { folderId, keyVersion, now }: { folderId: string; keyVersion: number; now: Date },
  secrets: readonly ResealedSecret[],
): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    UPDATE secrets s SET wrapped_dek = sent.wrapped_dek, title_encrypted = sent.title_encrypted,
      fields = sent.fields::jsonb, key_version = ${keyVersion}, version = s.version + 1,
      updated_at = greatest(${now.toISOString()}::timestamptz, s.updated_at + interval '1 microsecond')
    FROM ${sql.unnest(
      secrets.map(({ uid, version, wrapped_dek, title_encrypted = "", fields = {} }) => [
        uid,
        version,
        wrapped_dek,
        title_encrypted,
        JSON.stringify(fields),
      ]),
      ["text", "int4", "text", "text", "text"],
    )} AS sent (uid, version, wrapped_dek, title_encrypted, fields)
    WHERE s.folder_id = ${folderId} AND s.uid = sent.uid AND s.version = sent.version
  `);
  return rowCount;
}

/** A folder's key as sealed for one holder; nulls where nothing may be sealed for the holder. */
export type HolderKey = { id: string } & (
  { encryptedKey: string; alg: "box-user" | "jwe" } | { encryptedKey: null; alg: null }
);

/** Gives the people who hold a folder its new key, and takes the old one from all others with a grant. */
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

/** The same for the machines. Both return how many have the new key. */
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
 * Who has a grant on a folder, as its history names them (`user:<id>`, `client:<id>`): people who are suspended or auditors
 * too, but no machine that is revoked or expired.
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

/** Takes a folder's sealed key from every one-time token: such a token bootstraps without it. */
export async function dropTokenKeys(tx: Queryable, folderId: string): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE access_token_folders SET encrypted_folder_key = NULL
    WHERE folder_id = ${folderId} AND encrypted_folder_key IS NOT NULL
  `);
}

/** The folder's key is the next one. */
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
