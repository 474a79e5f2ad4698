import type { Transaction } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { isNotEndedByOthers, lockSessions } from "../store/accounts/sessions.ts";

/** The session of a call, and all active ones of its person. */
export interface LastingSession {
  userId: string;
  sessionId: string;
  all: readonly string[];
}

/**
 * Locks the caller's sessions until the transaction ends.
 * @throws ServiceError `invalid_token` when the session of this call has ended
 */
export async function requireLastingSession(
  tx: Transaction,
  { userId, sessionId }: User,
  now: Date,
): Promise<LastingSession> {
  const all = await lockSessions(tx, userId, now);
  if (!all.includes(sessionId)) throw sessionEnded();
  return { userId, sessionId, all };
}

/**
 * Runs `work` in a transaction that commits only if the caller's session has not ended. A write may
 * wait seconds for a lock; a caller who is logged out meanwhile must not have written. A session
 * that `work` ends itself does not count.
 * @throws ServiceError `invalid_token` when the session ended after the request was authenticated,
 * and what `work` throws
 */
export function transactionInSession<T>(
  { database }: Pick<Deps, "database">,
  caller: User,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const done = await work(tx);
    // This must be the last statement before the commit.
    if (!(await isNotEndedByOthers(tx, caller.sessionId))) throw sessionEnded();
    return done;
  });
}
