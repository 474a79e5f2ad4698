import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { z } from "zod";
import { placeOf } from "../accounts/known-place.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { noteKnownPlace } from "../store/accounts/known-places.ts";
import { type LockedSession, lockSession, rotateSession } from "../store/accounts/sessions.ts";
import { refreshSeconds, type TokenPair, tokenPair } from "./access-token.ts";
import { hashRefreshToken, nextRefreshToken, parseRefreshToken, type RefreshToken } from "./refresh-token.ts";
import { type Revocation, revokeSession } from "./revoke.ts";

export const refreshBody = z.object({ refresh_token: z.string().min(1).max(512) });

/** For this long the previous token counts as a lost response or a second tab, not as theft. */
const repeatMilliseconds = 60_000;

type RefreshCall = Call<unknown, unknown, z.infer<typeof refreshBody>>;
type Outcome =
  | { kind: "refreshed"; userId: string; refreshToken: string; now: Date; expiresAt: Date }
  | { kind: "reused"; revocation: Revocation | null }
  | { kind: "invalid" };

/** POST /api/auth/refresh */
export async function refreshSession(deps: Deps, call: RefreshCall): Promise<TokenPair> {
  const keys = await deps.keys.present();
  const token = parseRefreshToken(keys.refreshKey, call.body.refresh_token);
  if (token === null) throw invalid(deps, "refresh_unknown");
  const outcome = await deps.database.transaction((tx) => spendToken(tx, deps, keys, call, token));
  if (outcome.kind === "invalid") throw invalid(deps, "refresh_ended");
  if (outcome.kind === "reused") {
    if (outcome.revocation !== null) await deps.announcer.announce([outcome.revocation]);
    deps.authFailures.inc({ reason: "refresh_reused" });
    throw new ServiceError("token_reused", "this refresh token was used before, so its session is ended: log in again");
  }
  return tokenPair(deps, keys, { sessionId: token.sessionId, ...outcome });
}

/**
 * Processes a genuine token under the lock of its session. Concurrent calls get the same successor.
 */
async function spendToken(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { request }: RefreshCall,
  token: RefreshToken,
): Promise<Outcome> {
  const now = deps.now();
  const session = await lockSession(tx, token.sessionId);
  if (session === null) return { kind: "invalid" };
  if (session.revoked_reason === "token_reused") return { kind: "reused", revocation: null };
  if (session.revoked_reason !== null || new Date(session.expires_at) <= now) return { kind: "invalid" };

  const successor = nextRefreshToken(keys.refreshKey, token);
  const refreshed = { kind: "refreshed", userId: session.user_id, refreshToken: successor.text, now } as const;
  if (isPresent(session, token)) {
    const expiresAt = new Date(now.getTime() + refreshSeconds * 1000);
    const refreshHash = hashRefreshToken(successor);
    const { generation } = successor;
    await rotateSession(tx, { id: session.id, generation, refreshHash, ip: request.ip, now, expiresAt });
    await noteKnownPlace(tx, { userId: session.user_id, place: placeOf(request.ip), now });
    return { ...refreshed, expiresAt };
  }
  const age = now.getTime() - new Date(session.rotated_at).getTime();
  if (isPresent(session, successor) && age <= repeatMilliseconds) {
    return { ...refreshed, expiresAt: new Date(session.expires_at) };
  }
  // A token newer than the session is no replay: the database was restored from a backup.
  if (token.generation >= session.generation) return { kind: "invalid" };
  // The previous token has another successor: the password was changed, and the response was lost.
  if (token.generation === session.generation - 1 && age <= repeatMilliseconds) return { kind: "invalid" };
  const revocation = await revokeSession(tx, deps, {
    session: { id: session.id, userId: session.user_id },
    reason: "token_reused",
    actor: { type: "user", id: session.user_id, session_id: session.id },
    request,
    status: 401,
  });
  return { kind: "reused", revocation };
}

function isPresent(session: LockedSession, token: RefreshToken): boolean {
  return token.generation === session.generation && hashRefreshToken(token).equals(session.refresh_hash);
}

function invalid(deps: Deps, reason: string): ServiceError {
  deps.authFailures.inc({ reason });
  return new ServiceError("invalid_token", "the refresh token is not valid: log in again");
}
