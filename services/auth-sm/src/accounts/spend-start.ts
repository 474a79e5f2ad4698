import { ServiceError } from "@coffer/errors";
import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { deleteLoginCounts } from "../store/login-counts.ts";
import type { LoginKind, OpenLoginStart } from "../store/login-starts.ts";
import { deleteLoginStart, keepProvenLoginStart, refuseLoginStart, takeLoginStart } from "../store/login-starts.ts";
import { holdPeople, lockPerson } from "../store/person-locks.ts";
import type { UserRow } from "../store/users.ts";
import { findUserWithPassword } from "../store/users.ts";
import { takeSecondFactor } from "../totp/second-factor.ts";
import { loginCall } from "./login-call.ts";

/** So often a start may be tried, as long as only the second factor was missing or wrong. */
const mostAttempts = 5;

/** What came of an attempt to finish a start. */
export type Spent =
  /** `deviceHash`: of the credential of the account with which the login began. */
  | { kind: "proven"; user: UserRow; setupId: number | null; deviceHash: Buffer | null }
  | { kind: "unknown" }
  | { kind: "wrong" }
  /** What was sent has not the form of a proof. */
  | { kind: "malformed"; error: ServiceError }
  /** All but the second factor was right. */
  | { kind: "otp" }
  /** As that, and for so many seconds no code is looked at. */
  | { kind: "wait"; seconds: number };

export interface Finish {
  id: string;
  kind: LoginKind;
  /** Whether the first factor is proven. Throws ServiceError `invalid_request` when it is malformed. */
  isProven: (start: OpenLoginStart) => boolean;
  otp: string | undefined;
  /**
   * `hold`: until the transaction ends nobody changes the person's password or second factor, or ends all sessions.
   * `lock`: the person begins nothing else; for what does such things itself.
   */
  person: "hold" | "lock";
  request: RequestContext;
  /** Of the answer that refuses. */
  refusalStatus: number;
}

/**
 * Tries to finish a started login or recovery. Whatever comes of it is to be committed: an attempt that failed is
 * counted before it is judged, and spends the start unless only the second factor is missing. A failure takes the same
 * time for everybody; the sweep of failed logins writes the audit. Success clears what was counted against the account.
 */
export async function spendStart(tx: Transaction, deps: Deps, keys: KeyRing, finish: Finish): Promise<Spent> {
  const { id, kind, request, refusalStatus } = finish;
  const now = deps.now();
  const call = loginCall(request, refusalStatus);
  const start = await takeLoginStart(tx, { id, kind, now });
  if (start === null) return { kind: "unknown" };
  const first = judge(start, finish);
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
    if (start.attempts < mostAttempts) await keepProvenLoginStart(tx, id, refused);
    else await refuseLoginStart(tx, id, { call: refused, now, proven: true });
    if (!waits) return { kind: "otp" };
    deps.authFailures.inc({ reason: "otp_delayed" });
    return { kind: "wait", seconds: factor.seconds };
  }
  await deleteLoginStart(tx, id);
  await deleteLoginCounts(tx, start.account);
  return { kind: "proven", user, setupId: start.opaque_setup_id, deviceHash: start.device_hash };
}

function judge(start: OpenLoginStart, { isProven }: Finish): "proven" | "wrong" | ServiceError {
  try {
    return isProven(start) ? "proven" : "wrong";
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
