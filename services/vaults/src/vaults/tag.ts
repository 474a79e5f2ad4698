import { createHash } from "node:crypto";

/** The entity tag of a small response: a hash of the whole. */
export function tagOf(answer: unknown): string {
  return createHash("sha256").update(JSON.stringify(answer)).digest("base64url").slice(0, 22);
}
