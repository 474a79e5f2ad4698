import type { Transaction } from "@coffer/postgres";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";

/**
 * Runs `work` in a transaction that commits only if the caller's session is still active. A write
 * may wait for locks for seconds, and the session may end meanwhile.
 * @throws ServiceError `invalid_token` if the session has ended, and what `work` throws
 */
export function transactionInSession<T>(
  { database, users }: Pick<Deps, "database" | "users">,
  caller: User,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const done = await work(tx);
    users.requireActiveSession(caller);
    return done;
  });
}
