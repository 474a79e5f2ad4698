import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { userActor } from "@coffer/service";
import { requireLastingSession } from "../access/lasting-session.ts";
import type { OtpField } from "../accounts/bodies.ts";
import { auditInChains } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { type Revocation, revokeSessions } from "../sessions/revoke.ts";
import { lockPerson } from "../store/accounts/person-locks.ts";
import { enableTotp, takePendingTotp } from "../store/accounts/totp.ts";
import { hashRecoveryCode, plainCode, recoveryCodeBytes, recoveryCodeOf, stepOf } from "./codes.ts";
import { openSecret } from "./secret-seal.ts";

/** The attempts that one new secret allows. */
const mostAttempts = 5;
const recoveryCodes = 10;

type VerifyCall = AuditedCall<User, unknown, OtpField>;

/** POST /api/auth/totp/verify: Activates the second factor. Every other session ends. */
export async function verifyTotp(deps: Deps, call: VerifyCall): Promise<{ recovery_codes: string[] }> {
  const keys = await deps.keys.present();
  const done = await deps.database.transaction((tx) => enable(tx, deps, keys, call));
  if (done instanceof ServiceError) throw done;
  await deps.announcer.announce(done.revocations);
  return { recovery_codes: done.codes };
}

/** Returns a wrong code as a value, so that the transaction commits the attempt. */
async function enable(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { caller, body, request, audit }: VerifyCall,
): Promise<{ codes: string[]; revocations: Revocation[] } | ServiceError> {
  const now = deps.now();
  await lockPerson(tx, caller.userId);
  const { userId, sessionId } = await requireLastingSession(tx, caller, now);
  const sealed = await takePendingTotp(tx, { userId, sessionId, most: mostAttempts, now });
  if (sealed === null) throw new ServiceError("conflict", "no secret is pending: request one first");
  const step = stepOf(openSecret(keys, userId, sealed), plainCode(body.otp), now);
  if (step === null) {
    return new ServiceError(
      "invalid_request",
      "that code is not valid now: check the clock of the device that shows it",
      {
        details: [{ field: "otp", issue: "not valid now" }],
      },
    );
  }
  const codes = Array.from({ length: recoveryCodes }, () => recoveryCodeOf(deps.randomBytes(recoveryCodeBytes)));
  await enableTotp(tx, { userId, step, codeHashes: codes.map(hashRecoveryCode) });
  const actor = userActor(caller);
  const cause = { reason: "second_factor_changed", actor, request, status: 200 } as const;
  const revocations = await revokeSessions(tx, deps, { userId, except: sessionId, ...cause });
  await auditInChains(tx, userId, (orgId) => audit({ orgId, actor }));
  return { codes, revocations };
}
