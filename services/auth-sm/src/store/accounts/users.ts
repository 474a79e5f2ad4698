import { type Queryable, sql } from "@coffer/postgres";
import { z } from "zod";
import { hasCredential } from "./device-credentials.ts";
import { isKnownPlace } from "./known-places.ts";

const userRow = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  created_at: z.string(),
  public_key: z.string(),
  encrypted_user_key: z.string(),
  encrypted_private_key: z.string(),
});
/** A person with keys that only the person can decrypt. */
export type UserRow = z.infer<typeof userRow>;

const userColumns = sql.fragment`id, email, name, created_at, public_key, encrypted_user_key, encrypted_private_key`;

/** `email` is in its canonical form. */
export interface NewUser {
  id: string;
  email: string;
  name: string;
  opaqueSetupId: number;
  registrationRecord: string;
  publicKey: string;
  encryptedUserKey: string;
  encryptedPrivateKey: string;
  recovery: { proofHash: string; encryptedUserKey: string } | undefined;
  now: Date;
}

/** Null when the e-mail is taken. */
export function insertUser(tx: Queryable, user: NewUser): Promise<UserRow | null> {
  return tx.maybeOne(sql.type(userRow)`
    INSERT INTO users (id, email, name, opaque_setup_id, registration_record, public_key, encrypted_user_key,
      encrypted_private_key, recovery_proof_hash, recovery_encrypted_user_key, created_at)
    VALUES (${user.id}, ${user.email}, ${user.name}, ${user.opaqueSetupId}, ${user.registrationRecord},
      ${user.publicKey}, ${user.encryptedUserKey}, ${user.encryptedPrivateKey}, ${user.recovery?.proofHash ?? null},
      ${user.recovery?.encryptedUserKey ?? null}, ${user.now.toISOString()})
    ON CONFLICT ON CONSTRAINT users_email_key DO NOTHING
    RETURNING ${userColumns}
  `);
}

export function getUser(db: Queryable, userId: string): Promise<UserRow> {
  return db.one(sql.type(userRow)`SELECT ${userColumns} FROM users WHERE id = ${userId}`);
}

/** A person whose password version is unchanged; otherwise null. */
export function findUserWithPassword(
  tx: Queryable,
  userId: string,
  passwordVersion: number | null,
): Promise<UserRow | null> {
  return tx.maybeOne(sql.type(userRow)`
    SELECT ${userColumns} FROM users WHERE id = ${userId} AND password_version = ${passwordVersion}
  `);
}

/** The user key as the recovery key opens it; null without a recovery key. */
export function findRecoveryUserKey(db: Queryable, userId: string): Promise<string | null> {
  const row = z.object({ recovery_encrypted_user_key: z.string().nullable() });
  return db.oneFirst(sql.type(row)`SELECT recovery_encrypted_user_key FROM users WHERE id = ${userId}`);
}

/** Replaces the password, and the recovery key if one is given. */
export function updatePassword(
  tx: Queryable,
  change: Pick<NewUser, "registrationRecord" | "encryptedUserKey" | "recovery"> & { userId: string; setupId: number },
): Promise<UserRow> {
  return tx.one(sql.type(userRow)`
    UPDATE users SET opaque_setup_id = ${change.setupId}, registration_record = ${change.registrationRecord},
      encrypted_user_key = ${change.encryptedUserKey}, password_version = password_version + 1,
      recovery_proof_hash = coalesce(${change.recovery?.proofHash ?? null}, recovery_proof_hash),
      recovery_encrypted_user_key =
        coalesce(${change.recovery?.encryptedUserKey ?? null}, recovery_encrypted_user_key)
    WHERE id = ${change.userId}
    RETURNING ${userColumns}
  `);
}

const loginRecord = z.object({
  user_id: z.string().nullable(),
  opaque_setup_id: z.number().nullable(),
  registration_record: z.string().nullable(),
  password_version: z.number().nullable(),
  is_known_place: z.boolean(),
  is_known_device: z.boolean(),
});
/** The stored values that check a login; nulls for an unknown e-mail. */
export type LoginRecord = z.infer<typeof loginRecord>;

/**
 * The login record of a canonical e-mail, with whether the address and the device are known. Always
 * one row, so that it takes the same time.
 */
export function findLoginRecord(
  db: Queryable,
  email: string,
  known: { place: Parameters<typeof isKnownPlace>[1]; credential: Parameters<typeof hasCredential>[1] },
): Promise<LoginRecord> {
  return db.one(sql.type(loginRecord)`
    SELECT u.id AS user_id, u.opaque_setup_id, u.registration_record, u.password_version,
      ${isKnownPlace(sql.fragment`u.id`, known.place)} AS is_known_place,
      ${hasCredential(sql.fragment`u.id`, known.credential)} AS is_known_device
    FROM (VALUES (${email})) AS input (email) LEFT JOIN users u ON u.email = input.email
  `);
}

/** Whether the password of this canonical e-mail was set with this OPAQUE setup. */
export function isRecordOfSetup(db: Queryable, email: string, setupId: number): Promise<boolean> {
  return db.oneFirst(sql.type(z.object({ is_record: z.boolean() }))`
    SELECT u.opaque_setup_id IS NOT DISTINCT FROM ${setupId} AS is_record
    FROM (VALUES (${email})) AS input (email) LEFT JOIN users u ON u.email = input.email
  `);
}

const recoveryRecord = z.object({
  user_id: z.string().nullable(),
  password_version: z.number().nullable(),
  public_key: z.string().nullable(),
  encrypted_private_key: z.string().nullable(),
  recovery_proof_hash: z.string().nullable(),
  recovery_encrypted_user_key: z.string().nullable(),
});
/** The stored values that check a recovery, and its result; nulls for an unknown e-mail. */
export type RecoveryRecord = z.infer<typeof recoveryRecord>;

/** The recovery record of a canonical e-mail. Always one row. */
export function findRecoveryRecord(db: Queryable, email: string): Promise<RecoveryRecord> {
  return db.one(sql.type(recoveryRecord)`
    SELECT u.id AS user_id, u.password_version, u.public_key, u.encrypted_private_key, u.recovery_proof_hash,
      u.recovery_encrypted_user_key
    FROM (VALUES (${email})) AS input (email) LEFT JOIN users u ON u.email = input.email
  `);
}
