import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { findRecoveryUserKey } from "../store/accounts/users.ts";

/** The user key, sealed under the key that the recovery key gives. */
export interface RecoveryKeyView {
  encrypted_user_key: string;
}

/** GET /api/account/recovery */
export async function showRecovery(deps: Deps, { caller }: Call<User>): Promise<RecoveryKeyView> {
  const sealed = await findRecoveryUserKey(deps.database.pool, caller.userId);
  if (sealed === null) throw new ServiceError("not_found", "the account has no recovery key");
  return { encrypted_user_key: sealed };
}
