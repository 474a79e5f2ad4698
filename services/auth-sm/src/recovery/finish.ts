import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { recoveryRefusal } from "../accounts/finish-refusals.ts";
import { requireRegistrationRecord } from "../accounts/opaque.ts";
import { spendStart } from "../accounts/spend-start.ts";
import { auditUserEvent } from "../accounts/user-events.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { type NewSessionView, openSession } from "../sessions/open.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { updatePassword } from "../store/accounts/users.ts";
import type { RecoveryFinish } from "./bodies.ts";

type FinishCall = Call<unknown, unknown, RecoveryFinish>;

/**
 * POST /api/auth/recovery/finish
 * Sets a new password and opens a session. Every earlier session ends.
 */
export async function finishRecovery(deps: Deps, call: FinishCall): Promise<NewSessionView> {
  const keys = await deps.keys.present();
  const done = await deps.database.transaction((tx) => recover(tx, deps, keys, call));
  if (done instanceof ServiceError) throw done;
  await deps.announcer.announce(done.revocations);
  return done.view;
}

/** Returns a refusal as a value: the transaction that consumes the start must commit either way. */
async function recover(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { body, request }: FinishCall,
): Promise<{ view: NewSessionView; revocations: Revocation[] } | ServiceError> {
  const spent = await spendStart(tx, deps, keys, {
    id: body.recovery_id,
    kind: "recovery",
    isProven: () => true,
    otp: body.otp,
    person: "lock",
    request,
    refusalStatus: 401,
  });
  if (spent.kind !== "proven" || spent.setupId === null) {
    return recoveryRefusal(spent.kind === "proven" ? { kind: "unknown" } : spent);
  }
  const { user, setupId } = spent;
  const refusal = await malformed(deps, setupId, user.email, body.registration_record);
  if (refusal !== null) return refusal;
  const changed = await updatePassword(tx, {
    userId: user.id,
    setupId,
    registrationRecord: body.registration_record,
    encryptedUserKey: body.encrypted_user_key,
    recovery: body.recovery && {
      proofHash: body.recovery.proof_hash,
      encryptedUserKey: body.recovery.encrypted_user_key,
    },
  });
  const actor = { type: "user", id: user.id } as const;
  const cause = { reason: "password_changed", actor, request, status: 200 } as const;
  const revocations = await revokeSessions(tx, deps, { userId: user.id, ...cause });
  const view = await openSession(tx, deps, keys, { user: changed, device: body.device, request });
  await recordRecovery(tx, deps, request, { userId: user.id, sessionId: view.session_id });
  return { view, revocations };
}

async function malformed(
  deps: Deps,
  setupId: number,
  email: string,
  registrationRecord: string,
): Promise<ServiceError | null> {
  const { setup } = await deps.keys.setup(setupId);
  try {
    requireRegistrationRecord(setup, email, registrationRecord);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

async function recordRecovery(
  tx: Transaction,
  deps: Deps,
  request: FinishCall["request"],
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<void> {
  const actor = { type: "user", id: userId, session_id: sessionId } as const;
  const common = { actor, reason: "recovery", status: 200 };
  await auditUserEvent(tx, deps, request, userId, {
    action: "user.password.changed",
    target: { type: "user", id: userId },
    ...common,
  });
  await auditUserEvent(tx, deps, request, userId, {
    action: "user.login.succeeded",
    target: { type: "session", id: sessionId, parent_id: userId },
    ...common,
  });
}
