import { createHash } from "node:crypto";
import { z } from "zod";

const prefix = "cfi1_";

/** An invitation's token as it was given. */
export const inviteToken = z.string().min(1).max(512);

/** The token of a new invitation: whoever shows it, and has the e-mail that it was made for, may join. */
export function newInviteToken(randomBytes: (count: number) => Buffer): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** What is kept of it. */
export function hashInviteToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
