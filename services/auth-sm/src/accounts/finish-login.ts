import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import type { SessionView } from "../sessions/open.ts";
import { openSession } from "../sessions/open.ts";
import { deleteLoginStart, lockLoginStart, refuseLoginStart } from "../store/login-starts.ts";
import { getUser } from "../store/users.ts";
import type { LoginFinish } from "./bodies.ts";
import { loginSource } from "./login-source.ts";
import { isLoginProven } from "./opaque.ts";
import { auditUserEvent } from "./user-events.ts";

type FinishCall = Call<unknown, unknown, LoginFinish>;

/**
 * POST /api/auth/login/finish
 * The first finish spends the start, whatever comes of it. A refused one only marks it, so that it takes the same time
 * for everybody; the sweep of failed logins writes the audit.
 */
export async function finishLogin(deps: Deps, call: FinishCall): Promise<SessionView> {
  const keys = await deps.keys.present();
  const finished = await deps.database.transaction((tx) => spendStart(tx, deps, keys, call));
  if (finished === null) deps.authFailures.inc({ reason: "unknown_login" });
  if (finished === null || finished instanceof ServiceError) throw finished ?? refusal();
  return finished;
}

/** The session, null without a start, or a refusal as a value: the transaction that spends a start commits either way. */
async function spendStart(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { body, request }: FinishCall,
): Promise<SessionView | ServiceError | null> {
  const now = deps.now();
  const start = await lockLoginStart(tx, body.login_id, now);
  if (start === null) return null;
  const proof = proofOf(start.server_state, body.finish_login_request);
  if (proof !== "proven" || start.user_id === null) {
    await refuseLoginStart(tx, body.login_id, loginSource(request), now);
    return proof instanceof ServiceError ? proof : refusal();
  }
  await deleteLoginStart(tx, body.login_id);
  const user = await getUser(tx, start.user_id);
  const session = await openSession(tx, deps, keys, { user, device: body.device, request });
  await auditUserEvent(tx, deps, request, user.id, {
    action: "user.login.succeeded",
    actor: { type: "user", id: user.id, session_id: session.session_id },
    target: { type: "session", id: session.session_id, parent_id: user.id },
    status: 200,
  });
  return session;
}

function proofOf(serverState: string, finishLoginRequest: string): "proven" | "wrong" | ServiceError {
  try {
    return isLoginProven(serverState, finishLoginRequest) ? "proven" : "wrong";
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function refusal(): ServiceError {
  return new ServiceError("invalid_credentials", "the e-mail or the password is wrong, or the login took too long");
}
