import type { Call } from "@coffer/http";
import type { ProofFields } from "../accounts/bodies.ts";
import { requireProof } from "../accounts/require-proof.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { upsertPendingTotp } from "../store/totp.ts";
import type { Enrolment } from "./codes.ts";
import { enrolmentOf, secretBytes } from "./codes.ts";
import { sealSecret } from "./secret-seal.ts";

/** For how long a new secret may be verified. */
const millisecondsToVerify = 15 * 60_000;

/**
 * POST /api/auth/totp: a new secret for an authenticator. It counts when this session has verified it; until then a
 * second factor that is on stays what it is.
 */
export function startTotp(deps: Deps, call: Call<User, unknown, ProofFields>): Promise<Enrolment> {
  const { caller } = call;
  return requireProof(deps, call, async (tx, { user, keys }) => {
    const secret = deps.randomBytes(secretBytes);
    await upsertPendingTotp(tx, {
      userId: user.id,
      sealedSecret: sealSecret(deps, keys, user.id, secret),
      sessionId: caller.sessionId,
      until: new Date(deps.now().getTime() + millisecondsToVerify),
    });
    return enrolmentOf(secret, user.email);
  });
}
