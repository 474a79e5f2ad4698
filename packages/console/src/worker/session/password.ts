import { encodeBase64 } from "@coffer/crypto";
import { close, enter, finish, leave } from "./enter-leave.ts";
import { Refusal } from "../failure.ts";
import { lockKey, openSession, sealSession } from "./lock.ts";
import type { ConsoleSession, OpenSession } from "./session.ts";

/** After so many wrong passwords the session ends: what is left is the login, which the service limits. */
const mostAttempts = 10;

/** Seals the open session under its password. */
export async function lock(session: ConsoleSession): Promise<null> {
  const { open } = session;
  if (open === undefined) return null;
  const { keeper, key, workspace } = open;
  const before = await keeper.current();
  const sealed = { ...(await sealSession(key, before)), attempts: 0 };
  if (session.open !== open) return null;
  close(session, sealed);
  await finish(session, workspace.close({ keepReplica: true }));
  const settled = await keeper.settled();
  // The tokens from before a renewal would soon end the session.
  if (settled.access_token !== before.access_token) Object.assign(sealed, await sealSession(key, settled));
  return null;
}

export async function unlock(session: ConsoleSession, password: string): Promise<null> {
  const { locked } = session;
  if (locked === undefined) throw new Refusal("locked");
  const opened = await attempt(session, locked, () => openSession(locked, password));
  await enter(session, opened.session, opened.key);
  return null;
}

/**
 * The open session, if this is its password. Takes as many wrong ones as `unlock`, then the session ends.
 * Throws Refusal `wrong_password`.
 */
export async function checkPassword(session: ConsoleSession, password: string): Promise<OpenSession> {
  const { open } = session;
  if (open === undefined) throw new Refusal("locked");
  const expected = open.key;
  return attempt(session, open, async () => {
    const { key } = await lockKey(password, expected.salt);
    return encodeBase64(key) === encodeBase64(expected.key) ? open : null;
  });
}

/** From now on the new password opens a locked session. A session that is locked already ends. */
export async function passwordChanged(session: ConsoleSession, password: string): Promise<void> {
  const key = await lockKey(password);
  const { open, locked, passkeys } = session;
  if (open !== undefined) {
    open.key = key;
    const person = await open.keeper.current();
    await passkeys.keep(person, (kept) => ({ ...kept, key })).catch(() => undefined);
  }
  // Locked meanwhile, with the password from before.
  else if (locked !== undefined) await leave(session, { keepReplica: true });
}

/**
 * Checks a password, of which the session takes so many wrong ones. `tried` is the open or the locked session,
 * `check` returns null for a wrong password.
 */
async function attempt<T>(
  session: ConsoleSession,
  tried: { attempts: number },
  check: () => Promise<T | null>,
): Promise<T> {
  // Counted before the check, so that attempts at the same time count too.
  tried.attempts += 1;
  if (tried.attempts > mostAttempts) throw new Refusal("wrong_password");
  const result = await check();
  if (tried !== session.open && tried !== session.locked) throw new Refusal("locked");
  if (result === null) {
    if (tried.attempts >= mostAttempts) await leave(session, { because: "attempts", keepReplica: true });
    throw new Refusal("wrong_password");
  }
  tried.attempts = 0;
  return result;
}
