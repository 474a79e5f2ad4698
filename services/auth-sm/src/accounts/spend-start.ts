import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { deleteLoginCounts } from "../store/accounts/login-counts.ts";
import {
  deleteLoginStart,
  type LoginKind,
  type OpenLoginStart,
  refuseLoginStart,
  storeProvenLoginStart,
  takeLoginStart,
} from "../store/accounts/login-starts.ts";
import { holdPeople, lockPerson } from "../store/accounts/person-locks.ts";
import { findUserWithPassword, type UserRow } from "../store/accounts/users.ts";
import { takeSecondFactor } from "../totp/second-factor.ts";
import { loginCall } from "./login-call.ts";

/** The attempts that one start allows while only the second factor is missing or wrong. */
const mostAttempts = 5;

/** The result of an attempt to finish a start. */
export type Spent =
  /** `deviceHash`: the hash of the known device's credential with which the login started. */
  | { kind: "proven"; user: UserRow; setupId: number | null; deviceHash: Buffer | null }
  | { kind: "unknown" }
  | { kind: "wrong" }
  /** The message does not have the form of a proof. */
  | { kind: "malformed"; error: ServiceError }
  /** Everything but the second factor was right. */
  | { kind: "otp" }
  /** As `otp`, and no code is checked for this many seconds. */
  | { kind: "wait"; seconds: number };

export interface Finish {
  id: string;
  kind: LoginKind;
  /**
   * Whether the first factor is proven. Throws ServiceError `invalid_request` when it is malformed.
   */
  isProven: (start: OpenLoginStart) => boolean;
  otp: string | undefined;
  /**
   * `hold` (shared lock): until the transaction ends, the person's password and second factor
   * cannot change and `revoke all sessions` waits. `lock` (exclusive): the person starts nothing
   * else; for operations that make such changes.
   */
  person: "hold" | "lock";
  request: RequestContext;
  /** The status of a refusal. */
  refusalStatus: number;
}

/**
 * Tries to finish a started login or recovery. The caller must commit whatever the result is. An
 * attempt is counted before it is checked; a failed one consumes the start unless only the second
 * factor is missing. Failures take the same time for every e-mail; the sweep of failed logins
 * writes the audit records. A success clears the account's counters.
 */
export async function spendStart(tx: Transaction, deps: Deps, keys: KeyRing, finish: Finish): Promise<Spent> {
  const { id, kind, request, refusalStatus } = finish;
  const now = deps.now();
  const call = loginCall(request, refusalStatus);
  const start = await takeLoginStart(tx, { id, kind, now });
  if (start === null) return { kind: "unknown" };
  const first = checkFirstFactor(start, finish);
  if (first instanceof ServiceError) {
    await refuseLoginStart(tx, id, { call: loginCall(request, first.status), now, proven: false });
    return { kind: "malformed", error: first };
  }
  if (first === "wrong" || start.user_id === null) {
    await refuseLoginStart(tx, id, { call, now, proven: false });
    return { kind: "wrong" };
  }
  if (finish.person === "hold") await holdPeople(tx, [start.user_id]);
  else await lockPerson(tx, start.user_id);
  const user = await findUserWithPassword(tx, start.user_id, start.password_version);
  if (user === null) {
    await refuseLoginStart(tx, id, { call, now, proven: false });
    return { kind: "wrong" };
  }
  const factor = await takeSecondFactor(tx, deps, keys, { userId: user.id, otp: finish.otp, now });
  if (factor.kind !== "given") {
    const waits = factor.kind === "wait";
    const refused = waits ? loginCall(request, 429) : call;
    if (start.attempts < mostAttempts) await storeProvenLoginStart(tx, id, refused);
    else await refuseLoginStart(tx, id, { call: refused, now, proven: true });
    if (!waits) return { kind: "otp" };
    deps.authFailures.inc({ reason: "otp_delayed" });
    return { kind: "wait", seconds: factor.seconds };
  }
  await deleteLoginStart(tx, id);
  await deleteLoginCounts(tx, start.account);
  return { kind: "proven", user, setupId: start.opaque_setup_id, deviceHash: start.device_hash };
}

function checkFirstFactor(start: OpenLoginStart, { isProven }: Finish): "proven" | "wrong" | ServiceError {
  try {
    return isProven(start) ? "proven" : "wrong";
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
