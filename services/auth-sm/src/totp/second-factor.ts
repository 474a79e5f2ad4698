import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { deleteRecoveryCode, findTotpSecret, spendTotpStep } from "../store/totp.ts";
import { hashRecoveryCode, plainCode, stepOf } from "./codes.ts";
import { openSecret } from "./secret-seal.ts";

/**
 * Whether the second factor is given where the person has one, and spends it: a time step is good once, and none before
 * it any more; a recovery code is good once. Of two that are spent at the same moment one is.
 */
export async function isSecondFactorGiven(
  tx: Transaction,
  deps: Pick<Deps, "telemetry">,
  keys: KeyRing,
  { userId, otp, now }: { userId: string; otp: string | undefined; now: Date },
): Promise<boolean> {
  const sealed = await findTotpSecret(tx, userId);
  if (sealed === null) return true;
  if (otp === undefined) return false;
  const code = plainCode(otp);
  if (!/^\d{6}$/.test(code)) return deleteRecoveryCode(tx, userId, hashRecoveryCode(code));
  const secret = opened(deps, keys, userId, sealed);
  const step = secret === null ? null : stepOf(secret, code, now);
  return step !== null && spendTotpStep(tx, userId, step);
}

/** A secret that does not open is a fault of the installation: the person's recovery codes still serve. */
function opened(deps: Pick<Deps, "telemetry">, keys: KeyRing, userId: string, sealed: Buffer): Buffer | null {
  try {
    return openSecret(keys, userId, sealed);
  } catch (error) {
    deps.telemetry.log.error({ err: error, user_id: userId }, "the secret of a second factor does not open");
    return null;
  }
}
