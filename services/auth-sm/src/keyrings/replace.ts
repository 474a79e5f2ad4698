import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import { transactionInSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type Keyring, storeKeyring } from "../store/accounts/keyrings.ts";

/**
 * PUT /api/account/keyring
 * Stores the next version only, so that no device overwrites a version that it has not read.
 */
export function replaceKeyring(deps: Deps, { caller, body }: Call<User, unknown, Keyring>): Promise<Keyring> {
  return transactionInSession(deps, caller, async (tx) => {
    if (await storeKeyring(tx, caller.userId, body)) return body;
    throw new ServiceError(
      "precondition_failed",
      "this is not the version after the stored one: read the keyring, merge and seal it again",
    );
  });
}
