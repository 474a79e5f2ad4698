import { encodeBase64Url } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";
import { newKey } from "./keys.ts";
import { type OneTimeToken, seedIn, tokenOfSeed } from "./one-time-seed.ts";

export const inviteTokenPrefix = "cfi1_";

/**
 * The invitation of a person into an organization: `wrapKey` seals the join key of the
 * organization's history.
 */
export type InviteToken = OneTimeToken;

/** A new invitation, as the text that is shown once: `cfi1_` and 43 base64url characters. */
export function newInviteToken(): string {
  return inviteTokenPrefix + encodeBase64Url(newKey());
}

/**
 * Parses the text that the invited person received.
 * @throws CryptoError `invalid_invite_token`
 */
export async function readInviteToken(text: string): Promise<InviteToken> {
  const seed = seedIn(text, inviteTokenPrefix);
  if (seed !== undefined) return tokenOfSeed(seed, "invite");
  throw new CryptoError(
    "invalid_invite_token",
    `not an invitation: it is ${inviteTokenPrefix} and 43 characters of A-Z a-z 0-9 - _`,
  );
}
