import { signUserToken } from "@coffer/tokens";
import type { Deps } from "../deps.ts";
import type { KeyRing } from "../keys/key-ring.ts";

/** How long an unused session lives. */
export const refreshSeconds = 30 * 24 * 60 * 60;

/** An access token and a refresh token. Lifetimes are in seconds. */
export interface TokenPair {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  refresh_expires_in: number;
}

/**
 * A new access token of a session, with its refresh token that is valid from `now` until
 * `expiresAt`.
 */
export async function tokenPair(
  deps: Deps,
  keys: KeyRing,
  session: { userId: string; sessionId: string; refreshToken: string; now: Date; expiresAt: Date },
): Promise<TokenPair> {
  const lifetimeSeconds = deps.config.COFFER_ACCESS_TOKEN_SECONDS;
  const [issuer = ""] = deps.config.COFFER_BASE_URL;
  const claims = { sub: session.userId, sid: session.sessionId };
  return {
    access_token: await signUserToken(keys.signing, claims, {
      issuer,
      lifetimeSeconds,
      now: deps.now,
      newId: deps.newId,
    }),
    token_type: "Bearer",
    expires_in: lifetimeSeconds,
    refresh_token: session.refreshToken,
    refresh_expires_in: Math.floor((session.expiresAt.getTime() - session.now.getTime()) / 1000),
  };
}
