import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import { insertLoginStart } from "../store/login-starts.ts";
import { findLoginRecord } from "../store/users.ts";
import type { LoginStart } from "./bodies.ts";
import { loginSource } from "./login-source.ts";
import { respondToLogin } from "./opaque.ts";

/** How long a login that has started may be finished. */
const loginSeconds = 60;

/**
 * POST /api/auth/login/start
 * An e-mail that nobody has is answered by the same steps: an answer of OPAQUE's, a row, a login that cannot succeed.
 */
export async function startLogin(
  deps: Deps,
  { body, request }: Call<unknown, unknown, LoginStart>,
): Promise<{ login_id: string; login_response: string }> {
  const keys = await deps.keys.present();
  const record = await findLoginRecord(deps.database.pool, body.email);
  const { loginResponse, serverState } = respondToLogin(
    // The oldest setup answers for those who have none: so such an answer does not change when a setup is added, just
    // as that for a person who had registered before does not.
    record.opaque_setup_id === null ? keys.oldestSetup.setup : keys.setup(record.opaque_setup_id),
    body.email,
    record.registration_record,
    body.start_login_request,
  );
  const id = deps.newId();
  await insertLoginStart(deps.database.pool, {
    id,
    userId: record.user_id,
    serverState,
    source: loginSource(request),
    expiresAt: new Date(deps.now().getTime() + loginSeconds * 1000),
  });
  return { login_id: id, login_response: loginResponse };
}
