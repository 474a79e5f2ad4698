import type { Queryable, Transaction } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import { isNotEnded, lockSessions } from "../store/sessions.ts";

/**
 * The ids of the caller's sessions, locked until the transaction ends, the caller's own among them.
 * @throws ServiceError `invalid_token` when that one has ended by now
 */
export async function requireLastingSession(tx: Transaction, caller: User, now: Date): Promise<readonly string[]> {
  const lasting = await lockSessions(tx, caller.userId, now);
  if (!lasting.includes(caller.sessionId)) {
    throw sessionEnded();
  }
  return lasting;
}

/**
 * Asks once more whether the caller's session lasts: for writes whose own statements do not say so after their last wait.
 * @throws ServiceError `invalid_token` when it has been ended since the request was let in
 */
export async function requireSession(db: Queryable, caller: User): Promise<void> {
  if (!(await isNotEnded(db, caller.sessionId))) throw sessionEnded();
}
