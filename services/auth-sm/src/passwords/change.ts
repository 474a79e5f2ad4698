import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { userActor } from "@coffer/service";
import { passwordChanger, requirePendingRecord } from "../accounts/pending-registration.ts";
import { type Proven, requireProof } from "../accounts/require-proof.ts";
import { auditInChains } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { SessionView } from "../sessions/open.ts";
import { renewSession } from "../sessions/renew.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { deleteRegistrationStarts } from "../store/accounts/registration-starts.ts";
import { updatePassword } from "../store/accounts/users.ts";
import type { PasswordChange } from "./bodies.ts";

type ChangeCall = AuditedCall<User, unknown, PasswordChange>;

/** POST /api/auth/password: The session continues with new tokens; every other session ends. */
export async function changePassword(deps: Deps, call: ChangeCall): Promise<SessionView> {
  const { view, revocations } = await requireProof(deps, call, (tx, proven) => change(tx, deps, call, proven));
  await deps.announcer.announce(revocations);
  return view;
}

async function change(
  tx: Transaction,
  deps: Deps,
  { caller, body, request, audit }: ChangeCall,
  { user, keys, session: { sessionId } }: Proven,
): Promise<{ view: SessionView; revocations: Revocation[] } | ServiceError> {
  const starter = passwordChanger(keys, sessionId);
  const { registration_record: registrationRecord } = body;
  const setupId = await orRefusal(requirePendingRecord(tx, deps, { starter, email: user.email, registrationRecord }));
  if (setupId instanceof ServiceError) return setupId;
  const changed = await updatePassword(tx, {
    userId: user.id,
    setupId,
    registrationRecord,
    encryptedUserKey: body.encrypted_user_key,
    recovery: body.recovery && {
      proofHash: body.recovery.proof_hash,
      encryptedUserKey: body.recovery.encrypted_user_key,
    },
  });
  await deleteRegistrationStarts(tx, starter);
  const actor = userActor(caller);
  const revocations = await revokeSessions(tx, deps, {
    userId: user.id,
    except: sessionId,
    reason: "password_changed",
    actor,
    request,
    status: 200,
  });
  const view = await renewSession(tx, deps, keys, { user: changed, sessionId, request });
  await auditInChains(tx, user.id, (orgId) => audit({ orgId, actor }));
  return { view, revocations };
}

/** A step's result, or its refusal as a value. */
async function orRefusal<T>(step: Promise<T>): Promise<T | ServiceError> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return error;
    throw error;
  }
}
