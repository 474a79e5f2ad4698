import { type KeyObject, verify } from "node:crypto";
import type { ParsedJwt } from "./parse-jwt.ts";

/** P1363: r and s, 32 bytes each. DER is longer and is refused. */
const signatureBytes = 64;

/**
 * Whether the key made the signature. Every signature has a second valid form, so neither it nor the
 * bytes of a token are an identity.
 */
export function isSignedBy({ signed, signature }: ParsedJwt, key: KeyObject): boolean {
  if (signature.length !== signatureBytes) return false;
  return verify("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }, signature);
}
