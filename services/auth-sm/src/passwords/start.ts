import type { Call } from "@coffer/http";
import { beginRegistration, passwordChanger } from "../accounts/pending-registration.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { getUser } from "../store/accounts/users.ts";
import type { PasswordStart } from "./bodies.ts";

/** POST /api/auth/password/start */
export async function startPasswordChange(
  deps: Deps,
  { caller, body }: Call<User, unknown, PasswordStart>,
): Promise<{ registration_response: string }> {
  const keys = await deps.keys.present();
  const { email } = await getUser(deps.database.pool, caller.userId);
  const { registration_request: registrationRequest } = body;
  const starter = passwordChanger(keys, caller.sessionId);
  return beginRegistration(deps, keys, { starter, identifier: email, registrationRequest });
}
