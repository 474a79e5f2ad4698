import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { countCode, deleteRecoveryCode, findTotpSecret, spendTotpStep } from "../store/accounts/totp.ts";
import { hashRecoveryCode, plainCode, stepOf } from "./codes.ts";
import { openSecret } from "./secret-seal.ts";

/**
 * Three of a million codes are right at a time. With 20 wrong codes a day and then one per hour, an
 * attacker with the password succeeds with a probability of 5 % in a year. A recovery code cannot
 * be guessed and is never delayed.
 */
const codeLimit = { most: 20, windowSeconds: 86_400, waitSeconds: 3_600 };

/** The result of a check of the second factor; `wait`: no code is checked for this many seconds. */
export type SecondFactor = { kind: "given" } | { kind: "wrong" } | { kind: "wait"; seconds: number };

/**
 * Checks and consumes the second factor, if the person has one. A time step or recovery code is
 * valid once, also for concurrent calls. The caller must commit, because the attempt counts.
 */
export async function takeSecondFactor(
  tx: Transaction,
  deps: Pick<Deps, "telemetry">,
  keys: KeyRing,
  { userId, otp, now }: { userId: string; otp: string | undefined; now: Date },
): Promise<SecondFactor> {
  const sealed = await findTotpSecret(tx, userId);
  if (sealed === null) return { kind: "given" };
  if (otp === undefined) return { kind: "wrong" };
  const code = plainCode(otp);
  if (!/^\d{6}$/.test(code)) return givenIf(await deleteRecoveryCode(tx, userId, hashRecoveryCode(code)));
  const seconds = await countCode(tx, { userId, now }, codeLimit);
  if (seconds > 0) return { kind: "wait", seconds };
  const secret = opened(deps, keys, userId, sealed);
  const step = secret === null ? null : stepOf(secret, code, now);
  return givenIf(step !== null && (await spendTotpStep(tx, userId, step)));
}

const givenIf = (isRight: boolean): SecondFactor => ({ kind: isRight ? "given" : "wrong" });

/**
 * A secret that cannot be decrypted is a fault of the installation. The recovery codes still work.
 */
function opened(deps: Pick<Deps, "telemetry">, keys: KeyRing, userId: string, sealed: Buffer): Buffer | null {
  try {
    return openSecret(keys, userId, sealed);
  } catch (error) {
    deps.telemetry.log.error({ err: error, user_id: userId }, "cannot decrypt the secret of a second factor");
    return null;
  }
}
