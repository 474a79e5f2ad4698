import type { Call } from "@coffer/http";
import type { ProofFields } from "../accounts/bodies.ts";
import { requireProof } from "../accounts/require-proof.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { upsertPendingTotp } from "../store/accounts/totp.ts";
import { type Enrolment, enrolmentOf, secretBytes } from "./codes.ts";
import { sealSecret } from "./secret-seal.ts";

/** How long a new secret can be verified. */
const millisecondsToVerify = 15 * 60_000;

/**
 * POST /api/auth/totp
 * Returns a new secret for an authenticator. It becomes active when this session verifies it; until
 * then an active second factor is not changed.
 */
export function startTotp(deps: Deps, call: Call<User, unknown, ProofFields>): Promise<Enrolment> {
  return requireProof(deps, call, async (tx, { user, keys, session: { sessionId } }) => {
    const secret = deps.randomBytes(secretBytes);
    await upsertPendingTotp(tx, {
      userId: user.id,
      sealedSecret: sealSecret(deps, keys, user.id, secret),
      sessionId,
      until: new Date(deps.now().getTime() + millisecondsToVerify),
    });
    return enrolmentOf(secret, user.email);
  });
}
