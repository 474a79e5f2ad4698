import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";

const publicJwk = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  kid: z.string(),
});
const signingKeyRow = z.object({
  kid: z.string(),
  private_jwk: publicJwk.extend({ d: z.string() }),
  public_jwk: publicJwk,
  created_at: z.string(),
});
/** A key pair that signs access tokens. */
export type SigningKeyRow = z.infer<typeof signingKeyRow>;

const setupRow = z.object({ id: z.number(), setup: z.string(), created_at: z.string() });
export type OpaqueSetupRow = z.infer<typeof setupRow>;

/** Locks the creation of keys until the transaction ends. */
export async function lockServerKeys(tx: Queryable): Promise<void> {
  await tx.one(sql.type(z.object({ locked: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtext('coffer auth-sm server keys'))::text AS locked
  `);
}

/** Every signing key, newest first. */
export function listSigningKeys(db: Queryable): Promise<readonly SigningKeyRow[]> {
  return db.any(sql.type(signingKeyRow)`
    SELECT kid, private_jwk, public_jwk, created_at FROM signing_keys ORDER BY created_at DESC, kid
  `);
}

export async function insertSigningKey(
  tx: Queryable,
  key: { kid: string; privateJwk: object; publicJwk: object; now: Date },
): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at)
    VALUES (${key.kid}, ${JSON.stringify({ ...key.privateJwk, kid: key.kid })},
      ${JSON.stringify({ ...key.publicJwk, kid: key.kid })}, ${key.now.toISOString()})
  `);
}

/** Every OPAQUE setup, oldest first. */
export function listOpaqueSetups(db: Queryable): Promise<readonly OpaqueSetupRow[]> {
  return db.any(sql.type(setupRow)`SELECT id, setup, created_at FROM opaque_setups ORDER BY id`);
}

export async function insertOpaqueSetup(tx: Queryable, setup: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO opaque_setups (setup, created_at) VALUES (${setup}, ${now.toISOString()})
  `);
}

export async function deleteSigningKeys(tx: Queryable): Promise<void> {
  await tx.query(sql.typeAlias("void")`DELETE FROM signing_keys`);
}

/** Deletes the signing keys that had a successor before this moment. */
export async function deleteRetiredSigningKeys(db: Queryable, before: Date): Promise<void> {
  await db.query(sql.typeAlias("void")`
    DELETE FROM signing_keys old WHERE EXISTS (
      SELECT FROM signing_keys successor
      WHERE successor.created_at > old.created_at AND successor.created_at <= ${before.toISOString()}::timestamptz
    )
  `);
}

/** Deletes the setups that had a successor before this moment and that no row names. */
export async function deleteRetiredSetups(db: Queryable, before: Date): Promise<void> {
  await db.query(sql.typeAlias("void")`
    DELETE FROM opaque_setups old
    WHERE EXISTS (
        SELECT FROM opaque_setups successor
        WHERE successor.id > old.id AND successor.created_at <= ${before.toISOString()}::timestamptz
      )
      AND NOT EXISTS (SELECT FROM users WHERE opaque_setup_id = old.id)
      AND NOT EXISTS (SELECT FROM registration_starts WHERE opaque_setup_id = old.id)
      AND NOT EXISTS (SELECT FROM login_starts WHERE opaque_setup_id = old.id)
  `);
}

/** One of the service's own keys by name; null when there is none. */
export function findServerKey(db: Queryable, name: string): Promise<Buffer | null> {
  return db.maybeOneFirst(sql.type(z.object({ key: z.instanceof(Buffer) }))`
    SELECT key FROM server_keys WHERE name = ${name}
  `);
}

export async function insertServerKey(tx: Queryable, name: string, key: Buffer, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO server_keys (name, key, created_at) VALUES (${name}, ${sql.binary(key)}, ${now.toISOString()})
  `);
}
