import type { Transaction } from "@coffer/postgres";
import type { User } from "@coffer/service";
import type { Deps } from "../deps.ts";

/**
 * Runs `work` in a transaction that commits only if the caller's session lasts until then, as far as is heard here: a write
 * may wait for what others hold, for seconds, and who is logged out meanwhile has written nothing.
 * @throws ServiceError `invalid_token` when it has ended since the request was let in, and what `work` throws
 */
export function transactionInSession<T>(
  { database, users }: Pick<Deps, "database" | "users">,
  caller: User,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    const done = await work(tx);
    // The last word before the commit.
    users.requireLasting(caller);
    return done;
  });
}
