import type { Transaction } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { isNotEndedByOthers, lockSessions } from "../store/sessions.ts";

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
 * Runs `work` in a transaction that commits only if the caller's session lasts until then: a write may wait for what others
 * hold, for seconds, and who is logged out meanwhile has written nothing. A session that `work` itself ends does not
 * count as ended.
 * @throws ServiceError `invalid_token` when it has ended since the request was let in, and what `work` throws
 */
export function transactionInSession<T>(
  { database }: Pick<Deps, "database">,
  caller: User,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const done = await work(tx);
    // The last word before the commit.
    if (!(await isNotEndedByOthers(tx, caller.sessionId))) throw sessionEnded();
    return done;
  });
}
