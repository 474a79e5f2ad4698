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

const loginRecord = z.object({ id: z.string(), opaque_setup_id: z.number(), registration_record: z.string() });
/** What a login is checked against. */
export type LoginRecord = z.infer<typeof loginRecord>;

/** The login record of the person with this canonical e-mail; null when nobody has it. */
export function findLoginRecord(db: Queryable, email: string): Promise<LoginRecord | null> {
  return db.maybeOne(sql.type(loginRecord)`
    SELECT id, opaque_setup_id, registration_record FROM users WHERE email = ${email}
  `);
}
