import type { Transaction } from "@coffer/postgres";
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
  keys: KeyRing,
  { userId, otp, now }: { userId: string; otp: string | undefined; now: Date },
): Promise<boolean> {
  const sealed = await findTotpSecret(tx, userId);
  if (sealed === null) return true;
  if (otp === undefined) return false;
  const code = plainCode(otp);
  if (!/^\d{6}$/.test(code)) return deleteRecoveryCode(tx, userId, hashRecoveryCode(code));
  const step = stepOf(openSecret(keys, userId, sealed), code, now);
  return step !== null && spendTotpStep(tx, userId, step);
}
