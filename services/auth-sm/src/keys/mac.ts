import { createHmac } from "node:crypto";

/** HMAC-SHA-256 over the parts, by which something is known without being kept itself. No part holds a NUL. */
export function macOf(key: Buffer, ...parts: readonly string[]): Buffer {
  return createHmac("sha256", key).update(parts.join("\0")).digest();
}
