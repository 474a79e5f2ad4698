import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { findKeyring, type Keyring } from "../store/accounts/keyrings.ts";

/** GET /api/account/keyring */
export async function showKeyring(deps: Deps, { caller }: Call<User>): Promise<Keyring> {
  const keyring = await findKeyring(deps.database.pool, caller.userId);
  if (keyring === null) throw new ServiceError("not_found", "no device of this account has stored a keyring");
  return keyring;
}
