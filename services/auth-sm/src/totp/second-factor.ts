import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { countCode, deleteRecoveryCode, findTotpSecret, spendTotpStep } from "../store/totp.ts";
import { hashRecoveryCode, plainCode, stepOf } from "./codes.ts";
import { openSecret } from "./secret-seal.ts";

/**
 * A code has a million forms, of which three are right at a time: by 20 wrong ones a day and one each hour after them,
 * somebody who knows the password gets in with a chance of 5 % in a year. A recovery code cannot be guessed, and always
 * opens.
 */
const codeLimit = { most: 20, windowSeconds: 86_400, waitSeconds: 3_600 };

/** What was given of a second factor; `wait`: for so many seconds no code is looked at. */
export type SecondFactor = { kind: "given" } | { kind: "wrong" } | { kind: "wait"; seconds: number };

/**
 * Looks at the second factor where the person has one, and spends it: a time step is good once, and none before it any
 * more; a recovery code is good once. Of two that are spent at the same moment one is. What comes of it is to be
 * committed: it counts.
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

/** A secret that does not open is a fault of the installation: the person's recovery codes still serve. */
function opened(deps: Pick<Deps, "telemetry">, keys: KeyRing, userId: string, sealed: Buffer): Buffer | null {
  try {
    return openSecret(keys, userId, sealed);
  } catch (error) {
    deps.telemetry.log.error({ err: error, user_id: userId }, "the secret of a second factor does not open");
    return null;
  }
}
