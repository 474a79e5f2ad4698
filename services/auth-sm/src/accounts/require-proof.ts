import { ServiceError } from "@coffer/errors";
import { type Call, uuidText } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { type LastingSession, requireLastingSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import type { UserRow } from "../store/accounts/users.ts";
import type { ProofFields } from "./bodies.ts";
import { proofRefusal } from "./finish-refusals.ts";
import { isLoginProven } from "./opaque.ts";
import { spendStart } from "./spend-start.ts";

/** A person who has just proven the password, and the second factor if there is one. */
export interface Proven {
  user: UserRow;
  keys: KeyRing;
  session: LastingSession;
}

/**
 * Runs `work` in the transaction that consumes a new proof of the caller's password (`login_id,
 * finish_login_request, otp?` in the body). The person is locked until it ends: no session of
 * theirs starts, renews or ends. `work` may run again after a retry, so it must have no effect
 * outside the transaction. A returned refusal commits what `work` wrote and consumes the proof; a
 * thrown one rolls back.
 * @throws ServiceError `reauth_required` without a valid proof, `invalid_token` when the session
 * has ended, and what `work` returns or throws
 */
export async function requireProof<T>(
  deps: Deps,
  { caller, body, request }: Pick<Call<User, unknown, ProofFields>, "caller" | "body" | "request">,
  work: (tx: Transaction, proven: Proven) => Promise<T | ServiceError>,
): Promise<T> {
  const { finish_login_request: proof, otp } = body;
  const { data: id } = uuidText.safeParse(body.login_id);
  if (proof === undefined || id === undefined) throw proofRefusal(null);
  const keys = await deps.keys.present();
  const done = await deps.database.transaction(async (tx): Promise<T | ServiceError> => {
    const spent = await spendStart(tx, deps, keys, {
      id,
      kind: "login",
      isProven: (start) => start.user_id === caller.userId && isRight(start.server_state, proof),
      otp,
      person: "lock",
      request,
      refusalStatus: 403,
    });
    if (spent.kind !== "proven") return proofRefusal(spent);
    const session = await requireLastingSession(tx, caller, deps.now());
    return work(tx, { user: spent.user, keys, session });
  });
  if (done instanceof ServiceError) throw done;
  return done;
}

/** A malformed proof counts as a wrong one. */
function isRight(serverState: string, proof: string): boolean {
  try {
    return isLoginProven(serverState, proof);
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
