import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { allowsAddress } from "./clients.ts";

const heldToken = z.object({
  id: z.string(),
  org_id: z.string(),
  application_id: z.string(),
  name: z.string(),
  used: z.boolean(),
  revoked: z.boolean(),
  expired: z.boolean(),
  address_allowed: z.boolean(),
  allowed_cidrs: z.array(z.string()).nullable(),
  client_expires_at: z.string().nullable(),
});
/** The state of a one-time token, which is locked against concurrent use. */
export type HeldToken = z.infer<typeof heldToken>;

declare const usable: unique symbol;

/** A token that its caller may spend. Only `usableToken` of `access/` makes one. */
export type UsableToken = HeldToken & { readonly [usable]: true };

/**
 * Locks the application of this token against deletion. Take this lock before the one on the token:
 * a deletion locks the application first too, and then its tokens. The emitted message makes the
 * commit wait for the disk also without such a token, so that the time does not reveal which tokens
 * exist.
 */
export async function holdTokenApplication(tx: Queryable, hash: Buffer): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    WITH held AS MATERIALIZED (
      SELECT FROM applications
      WHERE id = (SELECT application_id FROM access_tokens WHERE token_hash = ${sql.binary(hash)}) FOR KEY SHARE
    )
    SELECT FROM pg_logical_emit_message(true, 'coffer', ''), (SELECT count(*) FROM held) AS counted
  `);
}

/**
 * Locks the token with this SHA-256; null when there is none. Of two concurrent uses the second
 * sees it used.
 */
export function lockToken(
  tx: Queryable,
  { hash, ip, now }: { hash: Buffer; ip: string; now: Date },
): Promise<HeldToken | null> {
  return tx.maybeOne(sql.type(heldToken)`
    SELECT id, org_id, application_id, name, used_at IS NOT NULL AS used, revoked_at IS NOT NULL AS revoked,
      expires_at <= ${now.toISOString()}::timestamptz AS expired,
      ${allowsAddress(sql.fragment`allowed_cidrs`, sql.fragment`${ip}::inet`)} AS address_allowed,
      allowed_cidrs::text[] AS allowed_cidrs, client_expires_at
    FROM access_tokens WHERE token_hash = ${sql.binary(hash)} FOR UPDATE
  `);
}

export async function markTokenUsed(tx: Queryable, { id }: UsableToken, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE access_tokens SET used_at = ${now.toISOString()} WHERE id = ${id}
  `);
}

export async function markTokenRevoked(tx: Queryable, tokenId: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    UPDATE access_tokens SET revoked_at = ${now.toISOString()} WHERE id = ${tokenId} AND revoked_at IS NULL
  `);
}

/**
 * Gives the new client the token's grants. The folders are locked against deletion and rotation: a
 * deleted folder gives no grant, and a rotated one comes without its old key.
 */
export async function grantTokenFolders(tx: Queryable, tokenId: string, clientId: string, now: Date): Promise<void> {
  await tx.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM folders WHERE id IN (SELECT folder_id FROM access_token_folders WHERE token_id = ${tokenId})
    ORDER BY id FOR KEY SHARE
  `);
  // A separate statement: the one above may wait for a lock, and would see the token's keys as they
  // were before.
  await tx.query(sql.typeAlias("void")`
    INSERT INTO client_folders (client_id, folder_id, permission, encrypted_key, encrypted_key_alg, added_at)
    SELECT ${clientId}, folder_id, permission, encrypted_folder_key,
      CASE WHEN encrypted_folder_key IS NOT NULL THEN 'box-token' END, ${now.toISOString()}
    FROM access_token_folders WHERE token_id = ${tokenId}
  `);
}
