import { importJWK, SignJWT } from "jose";
import type { SigningKey } from "./signing-key.ts";

/** The audience of people's tokens: not a base address, so that no machine's token is accepted as one. */
export const userAudience = "coffer-user";

/**
 * Signs a person's access token: ES256 with `kid`, `iss`, `aud`, `sub` (the user), `sid` (the session),
 * `iat`, `exp` and `jti`.
 */
export async function signUserToken(
  key: Pick<SigningKey, "kid" | "privateJwk">,
  { sub, sid }: { sub: string; sid: string },
  {
    issuer,
    lifetimeSeconds,
    now,
    newId,
  }: { issuer: string; lifetimeSeconds: number; now: () => Date; newId: () => string },
): Promise<string> {
  const issuedAt = Math.floor(now().getTime() / 1000);
  return new SignJWT({ sid })
    .setProtectedHeader({ alg: "ES256", typ: "JWT", kid: key.kid })
    .setIssuer(issuer)
    .setAudience(userAudience)
    .setSubject(sub)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .setJti(newId())
    .sign(await importJWK(key.privateJwk, "ES256"));
}
