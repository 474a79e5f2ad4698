import { parseJwt } from "./parse-jwt.ts";
import { userAudience } from "./sign-user-token.ts";

/**
 * Whether a token claims to be a person's, which selects its verifier. Does not check the signature.
 * False for text that is not a token.
 */
export function isForPerson(token: string): boolean {
  try {
    return parseJwt(token).claims["aud"] === userAudience;
  } catch {
    return false;
  }
}
