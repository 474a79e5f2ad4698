import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { sessionEnded } from "@coffer/service";
import { placeOf } from "../accounts/known-place.ts";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";
import { noteKnownPlace } from "../store/accounts/known-places.ts";
import { lockSession, rotateSession } from "../store/accounts/sessions.ts";
import type { UserRow } from "../store/accounts/users.ts";
import { refreshSeconds } from "./access-token.ts";
import { sessionView, type SessionView } from "./open.ts";
import { hashRefreshToken, newRefreshToken } from "./refresh-token.ts";

/**
 * New tokens for a session that continues after a password change. The old refresh token is
 * invalid: a client that missed the response must log in again.
 */
export async function renewSession(
  tx: Transaction,
  deps: Deps,
  keys: KeyRing,
  { user, sessionId, request }: { user: UserRow; sessionId: string; request: RequestContext },
): Promise<SessionView> {
  const session = await lockSession(tx, sessionId);
  if (session === null) throw sessionEnded();
  const now = deps.now();
  const expiresAt = new Date(now.getTime() + refreshSeconds * 1000);
  const refreshToken = newRefreshToken(keys.refreshKey, {
    sessionId,
    generation: session.generation + 1,
    secret: deps.randomBytes(32),
  });
  const refreshHash = hashRefreshToken(refreshToken);
  const { generation } = refreshToken;
  await rotateSession(tx, { id: sessionId, generation, refreshHash, ip: request.ip, now, expiresAt });
  await noteKnownPlace(tx, { userId: user.id, place: placeOf(request.ip), now });
  return sessionView(deps, keys, { user, sessionId, refreshToken, now, expiresAt });
}
