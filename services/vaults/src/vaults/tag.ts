import { createHash } from "node:crypto";

/** The entity tag of an answer that is small enough to be looked at as a whole. */
export function tagOf(answer: unknown): string {
  return createHash("sha256").update(JSON.stringify(answer)).digest("base64url").slice(0, 22);
}
