import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { type NewSessionView, openSession } from "../sessions/open.ts";
import type { LoginFinish } from "./bodies.ts";
import { loginRefusal } from "./finish-refusals.ts";
import { isLoginProven } from "./opaque.ts";
import { spendStart } from "./spend-start.ts";
import { auditUserEvent } from "./user-events.ts";

type FinishCall = Call<unknown, unknown, LoginFinish>;

/**
 * POST /api/auth/login/finish
 * Consumes the start. Only a start that lacks nothing but the second factor can be tried again.
 */
export async function finishLogin(deps: Deps, call: FinishCall): Promise<NewSessionView> {
  const keys = await deps.keys.present();
  const finished = await deps.database.transaction((tx) => logIn(tx, deps, keys, call));
  if (finished === "unknown") deps.authFailures.inc({ reason: "unknown_login" });
  if (finished === "unknown") throw loginRefusal({ kind: "unknown" });
  if (finished instanceof ServiceError) throw finished;
  return finished;
}

/** Returns a refusal as a value: the transaction that consumes a start must commit either way. */
async function logIn(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { body, request }: FinishCall,
): Promise<NewSessionView | ServiceError | "unknown"> {
  const spent = await spendStart(tx, deps, keys, {
    id: body.login_id,
    kind: "login",
    isProven: (start) => isLoginProven(start.server_state, body.finish_login_request),
    otp: body.otp,
    person: "hold",
    request,
    refusalStatus: 401,
  });
  if (spent.kind === "unknown") return "unknown";
  if (spent.kind !== "proven") return loginRefusal(spent);
  const { user, deviceHash } = spent;
  const session = await openSession(tx, deps, keys, { user, device: body.device, request, deviceHash });
  await auditUserEvent(tx, deps, request, user.id, {
    action: "user.login.succeeded",
    actor: { type: "user", id: user.id, session_id: session.session_id },
    target: { type: "session", id: session.session_id, parent_id: user.id },
    status: 200,
  });
  return session;
}
