import type { JWK, JWTPayload } from "jose";
import { errors, importJWK, jwtVerify } from "jose";
import { rememberTokens } from "./remembered.ts";
import { userAudience } from "./sign-user-token.ts";
import type { RejectionReason } from "./token-rejection.ts";
import { invalidToken } from "./token-rejection.ts";

/** A person's token that is genuine: whether the session has ended is another question. */
export interface UserClaims {
  userId: string;
  sessionId: string;
  /** Unix seconds. */
  expiresAt: number;
}

export interface UserVerifierOptions {
  /** The canonical base address, as tokens name their issuer. */
  issuer: string;
  /** The present time. */
  now: () => Date;
  /** The public key with this `kid`, or null when there is none. */
  findKey: (kid: string) => Promise<JWK | null>;
}

/**
 * Makes the verifier of people's access tokens. No leeway on `exp`. Each failure is the same `invalid_token`; its cause
 * is a `TokenRejection`. What was verified once is remembered until it expires, by all bytes of the token.
 */
export function verifyUserToken({ issuer, now, findKey }: UserVerifierOptions) {
  const remembered = rememberTokens<UserClaims>(() => now().getTime());

  return async (token: string): Promise<UserClaims> => {
    const before = remembered.find(token);
    if (before.claims !== undefined) return before.claims;
    const claims = claimsOf(await verifiedPayload(token, { issuer, now, findKey }));
    remembered.add(before.key, claims);
    return claims;
  };
}

async function verifiedPayload(token: string, { issuer, now, findKey }: UserVerifierOptions): Promise<JWTPayload> {
  const keyOf = async ({ kid }: { kid?: string | undefined }) => {
    const key = kid === undefined ? null : await findKey(kid);
    if (key === null) throw invalidToken("unknown_key");
    return importJWK(key, "ES256");
  };
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: ["ES256"],
      typ: "JWT",
      issuer,
      audience: userAudience,
      requiredClaims: ["sub", "sid", "iat", "exp", "jti"],
      currentDate: now(),
      clockTolerance: 0,
    });
    return payload;
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === null ? error : invalidToken(reason);
  }
}

/** Null for what is not about the token: a key that cannot be fetched now, or a refusal that is one already. */
function reasonOf(error: unknown): RejectionReason | null {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm";
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === "aud" ? "audience" : "claims";
  if (error instanceof errors.JOSEError) return "malformed";
  return null;
}

function claimsOf({ sub, sid, exp }: JWTPayload): UserClaims {
  if (typeof sub !== "string" || typeof sid !== "string" || !Number.isSafeInteger(exp)) throw invalidToken("claims");
  return { userId: sub, sessionId: sid, expiresAt: exp ?? 0 };
}
