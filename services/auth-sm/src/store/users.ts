import type { Queryable } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";

const userRow = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  created_at: z.string(),
  public_key: z.string(),
  encrypted_user_key: z.string(),
  encrypted_private_key: z.string(),
});
/** A person with the keys that only the person can open. */
export type UserRow = z.infer<typeof userRow>;

const userColumns = sql.fragment`id, email, name, created_at, public_key, encrypted_user_key, encrypted_private_key`;

/** What makes an account. `email` is in its canonical form. */
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

/** Inserts a person; null when the e-mail is taken. */
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

/** A person who exists. */
export function getUser(db: Queryable, userId: string): Promise<UserRow> {
  return db.one(sql.type(userRow)`SELECT ${userColumns} FROM users WHERE id = ${userId}`);
}

const loginRecord = z.object({
  user_id: z.string().nullable(),
  opaque_setup_id: z.number().nullable(),
  registration_record: z.string().nullable(),
});
/** What a login is checked against: nulls for an e-mail that nobody has. */
export type LoginRecord = z.infer<typeof loginRecord>;

/** The login record of the person with this canonical e-mail. There is always one row, so that it takes the same time. */
export function findLoginRecord(db: Queryable, email: string): Promise<LoginRecord> {
  return db.one(sql.type(loginRecord)`
    SELECT u.id AS user_id, u.opaque_setup_id, u.registration_record
    FROM (VALUES (${email})) AS asked (email) LEFT JOIN users u ON u.email = asked.email
  `);
}
