import { createPublicKey, type KeyObject } from "node:crypto";
import type { JWK } from "jose";
import { checkTimes } from "./check-times.ts";
import { isSignedBy } from "./is-signed-by.ts";
import { parseJwt } from "./parse-jwt.ts";
import { rememberTokens } from "./remembered.ts";
import { userAudience } from "./sign-user-token.ts";
import { invalidToken } from "./token-rejection.ts";
import { uuidOf } from "./uuid.ts";

/** The claims of a verified token of a person. The caller checks the session. */
export interface UserClaims {
  userId: string;
  sessionId: string;
  /** Unix seconds. */
  expiresAt: number;
}

export interface UserVerifierOptions {
  /** The canonical base address, the issuer of tokens; several while one replaces another. */
  issuer: string | readonly string[];
  /** The present time. */
  now: () => Date;
  /** The public key with this `kid`; null without one. */
  findKey: (kid: string) => Promise<JWK | null>;
}

interface Verified {
  kid: string;
  claims: UserClaims;
  expiresAt: number;
}

/** Longer than the lifetime of any access token. */
const longestSeconds = 86_400;

/**
 * Makes the verifier of people's access tokens. No leeway on `exp`. Each failure is the same
 * `invalid_token`; its cause is a `TokenRejection`. Caches verified tokens until they expire, by all
 * their bytes; looks up the key each time, so that a revoked key invalidates its tokens. Passes on
 * errors of `findKey`.
 */
export function verifyUserToken(options: UserVerifierOptions): (token: string) => Promise<UserClaims> {
  const { now, findKey } = options;
  const issuers: readonly unknown[] = typeof options.issuer === "string" ? [options.issuer] : options.issuer;
  const remembered = rememberTokens<Verified>(() => now().getTime());

  const verify = async (token: string, key: string): Promise<UserClaims> => {
    const jwt = parseJwt(token);
    const { kid } = jwt.header;
    if (typeof kid !== "string") throw invalidToken("unknown_key");
    const jwk = await findKey(kid);
    if (jwk === null) throw invalidToken("unknown_key");
    if (!isSignedBy(jwt, importKey(jwk))) throw invalidToken("signature");
    const { iss, aud, sub, sid } = jwt.claims;
    const times = checkTimes(jwt.claims, { nowSeconds: now().getTime() / 1000, longestSeconds });
    if (typeof times === "string") throw invalidToken(times);
    if (aud !== userAudience || !issuers.includes(iss)) throw invalidToken("audience");
    const [userId, sessionId] = [uuidOf(sub), uuidOf(sid)];
    if (userId === null || sessionId === null) throw invalidToken("subject");
    const claims = { userId, sessionId, expiresAt: times.expiresAt };
    remembered.add(key, { kid, claims, expiresAt: times.expiresAt });
    return claims;
  };

  return async (token) => {
    const { key, claims: verified } = remembered.find(token);
    if (verified === undefined) return verify(token, key);
    if ((await findKey(verified.kid)) === null) throw invalidToken("unknown_key");
    return verified.claims;
  };
}

/** Only the four members of the key: other published members are for other readers. */
function importKey({ kty, crv, x, y }: JWK): KeyObject {
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) throw invalidToken("unknown_key");
  return createPublicKey({ key: { kty, crv, x, y }, format: "jwk" });
}
