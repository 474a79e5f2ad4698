import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
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
});
/** A key pair that signs people's access tokens. */
export type SigningKeyRow = z.infer<typeof signingKeyRow>;

const setupRow = z.object({ id: z.number(), setup: z.string() });
/** One generation of the server's OPAQUE setup. */
export type OpaqueSetupRow = z.infer<typeof setupRow>;

/** Waits until no other replica makes keys; until the end of the transaction none can. */
export async function lockServerKeys(tx: Queryable): Promise<void> {
  await tx.one(sql.type(z.object({ locked: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtext('coffer auth-sm server keys'))::text AS locked
  `);
}

/** Every signing key, newest first. */
export function listSigningKeys(db: Queryable): Promise<readonly SigningKeyRow[]> {
  return db.any(sql.type(signingKeyRow)`
    SELECT kid, private_jwk, public_jwk FROM signing_keys ORDER BY created_at DESC, kid
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
  return db.any(sql.type(setupRow)`SELECT id, setup FROM opaque_setups ORDER BY id`);
}

export async function insertOpaqueSetup(tx: Queryable, setup: string, now: Date): Promise<void> {
  await tx.query(sql.typeAlias("void")`
    INSERT INTO opaque_setups (setup, created_at) VALUES (${setup}, ${now.toISOString()})
  `);
}

/** The key by this name, which only the service itself uses; null when there is none. */
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
