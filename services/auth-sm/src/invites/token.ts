import { createHash } from "node:crypto";
import { z } from "zod";

/** An invitation's token as it was given. */
export const inviteToken = z.string().min(1).max(512);

/**
 * The token of an invitation that the service makes: whoever shows it, and has the e-mail that it was made for, may join. It
 * has no prefix: `cfi1_` begins the invitations that clients make, which hold more than the token.
 */
export function newInviteToken(randomBytes: (count: number) => Buffer): string {
  return randomBytes(32).toString("base64url");
}

/** What is kept of it. */
export function hashInviteToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
