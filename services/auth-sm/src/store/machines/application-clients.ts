import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { partOfApplication, rowsOf, type TimeKey, type Wanted } from "../list-parts.ts";

const clientRow = z.object({
  client_id: z.string(),
  name: z.string(),
  status: z.enum(["active", "revoked", "expired"]),
  public_key: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  last_ip: z.string().nullable(),
  expires_at: z.string().nullable(),
  folders: z.array(
    z.object({ id: z.string(), name: z.string(), permission: z.enum(["read", "write"]), key_sealed: z.boolean() }),
  ),
});
/**
 * A machine of an application as its managers see it. `key_sealed`: whether it has the folder's
 * key.
 */
export type ClientRow = z.infer<typeof clientRow>;

/** A part of the clients of an application, oldest first. */
export async function listApplicationClients(
  db: Queryable,
  { now, ...wanted }: { applicationId: string; now: Date } & Wanted<TimeKey>,
): Promise<{ rows: readonly ClientRow[]; more: boolean }> {
  const part = partOfApplication("clients", wanted);
  const found = await db.any(sql.type(clientRow.extend({ found: z.number() }))`
    WITH part AS MATERIALIZED (${part.rows})
    SELECT c.id AS client_id, c.name,
      CASE WHEN c.revoked_at IS NOT NULL THEN 'revoked'
        WHEN c.expires_at <= ${now.toISOString()}::timestamptz THEN 'expired' ELSE 'active' END AS status,
      c.public_key, c.created_at, c.last_used_at, host(c.last_ip) AS last_ip, c.expires_at,
      coalesce((
        SELECT json_agg(json_build_object('id', f.id, 'name', f.name, 'permission', g.permission,
          'key_sealed', g.encrypted_key IS NOT NULL) ORDER BY f.name_folded)
        FROM client_folders g JOIN folders f ON f.id = g.folder_id WHERE g.client_id = c.id
      ), '[]') AS folders, found
    FROM part JOIN clients c USING (id)
    WHERE ${part.fits} ORDER BY n
  `);
  return rowsOf(found);
}

const lockedClient = z.object({
  id: z.string(),
  public_key: z.string(),
  revoked: z.boolean(),
  expired: z.boolean(),
});

/** Locks a client of an application; null when the application has no such client. */
export function lockApplicationClient(
  tx: Queryable,
  { applicationId, clientId, now }: { applicationId: string; clientId: string; now: Date },
): Promise<z.infer<typeof lockedClient> | null> {
  return tx.maybeOne(sql.type(lockedClient)`
    SELECT id, public_key, revoked_at IS NOT NULL AS revoked,
      coalesce(expires_at <= ${now.toISOString()}::timestamptz, false) AS expired
    FROM clients WHERE id = ${clientId} AND application_id = ${applicationId} FOR UPDATE
  `);
}

export async function revokeClientRow(tx: Queryable, clientId: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE clients SET revoked_at = ${now.toISOString()} WHERE id = ${clientId} AND revoked_at IS NULL
  `);
}

/**
 * Revokes every client of an application; returns the ids of those that were not revoked before.
 */
export function revokeApplicationClients(tx: Queryable, applicationId: string, now: Date): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    UPDATE clients SET revoked_at = ${now.toISOString()}
    WHERE application_id = ${applicationId} AND revoked_at IS NULL RETURNING id
  `);
}

const grantRow = z.object({ permission: z.enum(["read", "write"]), added_at: z.string() });

/**
 * Adds or changes a client's grant on a folder, with the folder's key encrypted to the client's
 * public key.
 */
export function upsertClientGrant(
  tx: Queryable,
  grant: { clientId: string; folderId: string; permission: "read" | "write"; encryptedKey: string; now: Date },
): Promise<z.infer<typeof grantRow>> {
  return tx.one(sql.type(grantRow)`
    INSERT INTO client_folders (client_id, folder_id, permission, encrypted_key, encrypted_key_alg, added_at)
    VALUES (${grant.clientId}, ${grant.folderId}, ${grant.permission}, ${grant.encryptedKey}, 'jwe',
      ${grant.now.toISOString()})
    ON CONFLICT (client_id, folder_id) DO UPDATE SET permission = excluded.permission,
      encrypted_key = excluded.encrypted_key, encrypted_key_alg = excluded.encrypted_key_alg
    RETURNING permission, added_at
  `);
}

export function hasClientGrant(db: Queryable, clientId: string, folderId: string): Promise<boolean> {
  return db.exists(sql.typeAlias("void")`
    SELECT FROM client_folders WHERE client_id = ${clientId} AND folder_id = ${folderId}
  `);
}

/** Returns false when the client has no such grant. */
export async function deleteClientGrant(tx: Queryable, clientId: string, folderId: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias("void")`
    DELETE FROM client_folders WHERE client_id = ${clientId} AND folder_id = ${folderId}
  `);
  return rowCount === 1;
}
