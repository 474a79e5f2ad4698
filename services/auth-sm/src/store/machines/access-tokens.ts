import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { partOfApplication, rowsOf, type TimeKey, type Wanted } from "../list-parts.ts";

const tokenRow = z.object({
  id: z.string(),
  application_id: z.string(),
  name: z.string(),
  status: z.enum(["unused", "used", "expired", "revoked"]),
  expires_at: z.string(),
  client_expires_at: z.string().nullable(),
  allowed_cidrs: z.array(z.string()).nullable(),
  created_at: z.string(),
  folders: z.array(z.object({ id: z.string(), name: z.string(), permission: z.enum(["read", "write"]) })),
  tag: z.string().nullable(),
});
/** A one-time token as its managers see it. */
export type AccessTokenRow = z.infer<typeof tokenRow>;

/** A token's grant on a folder. The key is null when it was not encrypted for the token. */
export interface TokenFolder {
  folderId: string;
  permission: "read" | "write";
  encryptedFolderKey: string | null;
}

/** Throws on a hash that is taken (`access_tokens_hash_key`). */
export async function insertAccessToken(
  tx: Queryable,
  token: {
    id: string;
    orgId: string;
    applicationId: string;
    name: string;
    hash: Buffer;
    madeByClient: boolean;
    allowedCidrs: readonly string[] | null;
    createdBy: string;
    now: Date;
    expiresAt: Date;
    clientExpiresAt: string | null;
    folders: readonly TokenFolder[];
  },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO access_tokens (id, org_id, application_id, name, token_hash, made_by_client, allowed_cidrs, created_by, created_at,
      expires_at, client_expires_at)
    VALUES (${token.id}, ${token.orgId}, ${token.applicationId}, ${token.name}, ${sql.binary(token.hash)},
      ${token.madeByClient},
      ${token.allowedCidrs === null ? null : sql.array([...token.allowedCidrs], "cidr")}, ${token.createdBy},
      ${token.now.toISOString()}, ${token.expiresAt.toISOString()}, ${token.clientExpiresAt})
  `);
  if (token.folders.length === 0) return;
  await tx.query(sql.typeAlias("void")`
    INSERT INTO access_token_folders (token_id, folder_id, permission, encrypted_folder_key)
    SELECT ${token.id}, * FROM ${sql.unnest(
      token.folders.map(({ folderId, permission, encryptedFolderKey }) => [folderId, permission, encryptedFolderKey]),
      ["uuid", "text", "text"],
    )}
  `);
}

const tokenColumns = (now: Date) => sql.fragment`
  t.id, t.application_id, t.name,
  CASE WHEN t.used_at IS NOT NULL THEN 'used' WHEN t.revoked_at IS NOT NULL THEN 'revoked'
    WHEN t.expires_at <= ${now.toISOString()}::timestamptz THEN 'expired' ELSE 'unused' END AS status,
  t.expires_at, t.client_expires_at, t.allowed_cidrs::text[] AS allowed_cidrs, t.created_at,
  CASE WHEN t.made_by_client THEN encode(t.token_hash, 'hex') END AS tag,
  coalesce((
    SELECT json_agg(json_build_object('id', f.id, 'name', f.name, 'permission', g.permission) ORDER BY f.name_folded)
    FROM access_token_folders g JOIN folders f ON f.id = g.folder_id WHERE g.token_id = t.id
  ), '[]') AS folders`;

/** A part of the tokens of an application, oldest first. */
export async function listAccessTokens(
  db: Queryable,
  { now, ...wanted }: { applicationId: string; now: Date } & Wanted<TimeKey>,
): Promise<{ rows: readonly AccessTokenRow[]; more: boolean }> {
  const part = partOfApplication("access_tokens", wanted);
  const found = await db.any(sql.type(tokenRow.extend({ found: z.number() }))`
    WITH part AS MATERIALIZED (${part.rows})
    SELECT ${tokenColumns(now)}, found FROM part JOIN access_tokens t USING (id)
    WHERE ${part.fits} ORDER BY n
  `);
  return rowsOf(found);
}

export function getAccessToken(db: Queryable, id: string, now: Date): Promise<AccessTokenRow> {
  return db.one(sql.type(tokenRow)`SELECT ${tokenColumns(now)} FROM access_tokens t WHERE t.id = ${id}`);
}

/**
 * Revokes the unused tokens that a person has issued in an organization: all, or those that name a
 * folder. Returns them.
 */
export function revokeTokensBy(
  tx: Queryable,
  { orgId, userId, folderId, now }: { orgId: string; userId: string; folderId?: string; now: Date },
): Promise<readonly { id: string; application_id: string }[]> {
  const naming =
    folderId === undefined
      ? sql.fragment``
      : sql.fragment`AND id IN (SELECT token_id FROM access_token_folders WHERE folder_id = ${folderId})`;
  return tx.any(sql.type(z.object({ id: z.string(), application_id: z.string() }))`
    UPDATE access_tokens SET revoked_at = ${now.toISOString()}
    WHERE org_id = ${orgId} AND created_by = ${userId} AND used_at IS NULL AND revoked_at IS NULL
      AND expires_at > ${now.toISOString()}::timestamptz ${naming}
    RETURNING id, application_id
  `);
}

const lockedToken = z.object({ id: z.string(), used: z.boolean(), revoked: z.boolean() });

/** Locks a token of an application against its use. Null when the application has no such token. */
export function lockAccessToken(
  tx: Queryable,
  applicationId: string,
  id: string,
): Promise<z.infer<typeof lockedToken> | null> {
  return tx.maybeOne(sql.type(lockedToken)`
    SELECT id, used_at IS NOT NULL AS used, revoked_at IS NOT NULL AS revoked
    FROM access_tokens WHERE id = ${id} AND application_id = ${applicationId} FOR UPDATE
  `);
}
