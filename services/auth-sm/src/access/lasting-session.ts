import type { Transaction } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import type { User } from "../callers/user.ts";
import { lockSessions } from "../store/sessions.ts";

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
