import { createHmac } from "node:crypto";

/**
 * HMAC-SHA-256 over the parts, which must not contain NUL. It identifies a value without storing
 * it.
 */
export function macOf(key: Buffer, ...parts: readonly string[]): Buffer {
  return createHmac("sha256", key).update(parts.join("\0")).digest();
}
