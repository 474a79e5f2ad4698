import { createHash } from "node:crypto";
import { z } from "zod";

export const inviteToken = z.string().min(1).max(512);

/**
 * Makes the token of an invitation without a signed history. It has no prefix: `cfi1_` starts the
 * invitations that clients make, which contain more than the token.
 */
export function newInviteToken(randomBytes: (count: number) => Buffer): string {
  return randomBytes(32).toString("base64url");
}

export function hashInviteToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
