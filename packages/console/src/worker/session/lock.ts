import { box, contexts, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { PersonSession } from "@coffer/sdk";

const iterations = 600_000;

/** A key from the password, with which a lock seals the session. */
export interface LockKey {
  salt: Uint8Array<ArrayBuffer>;
  key: Uint8Array;
}

export interface LockedSession {
  userId: string;
  salt: Uint8Array<ArrayBuffer>;
  sealed: string;
}

/** PBKDF2-SHA-256 of the password, with a new salt where none is given. */
export async function lockKey(
  password: string,
  salt: Uint8Array<ArrayBuffer> = crypto.getRandomValues(new Uint8Array(16)),
): Promise<LockKey> {
  const bytes = new TextEncoder().encode(password.normalize("NFKC"));
  const base = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
  const derived = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations }, base, 256);
  return { salt, key: new Uint8Array(derived) };
}

export async function sealSession({ salt, key }: LockKey, session: PersonSession): Promise<LockedSession> {
  const context = contexts.lockedSession(session.user.id);
  return { userId: session.user.id, salt, sealed: await box(key, encodeText(JSON.stringify(session)), context) };
}

/** The session and the key of the next lock; null for another password. */
export async function openSession(
  { userId, salt, sealed }: LockedSession,
  password: string,
): Promise<{ session: PersonSession; key: LockKey } | null> {
  const key = await lockKey(password, salt);
  try {
    const opened = await unboxBound(key.key, sealed, contexts.lockedSession(userId));
    return { session: JSON.parse(decodeText(opened)) as PersonSession, key }; // sealed by sealSession
  } catch {
    return null;
  }
}
