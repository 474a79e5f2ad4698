import type { CryptoKey } from "jose";
import { decodeBase64 } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";

/** The SPKI of every P-256 key in its canonical form: this header, then the uncompressed point of 65 bytes. */
const header = decodeBase64("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE");
const spkiBytes = 91;

/**
 * Reads a public key that came from outside: base64 of the canonical 91-byte SPKI DER of a point on P-256, and nothing
 * else (no compressed point, no explicit parameters, no trailing bytes).
 *
 * @returns the DER and the key for ECDH
 * @throws CryptoError `invalid_key`
 */
export async function readPublicKey(publicKey: string): Promise<{ der: Uint8Array<ArrayBuffer>; key: CryptoKey }> {
  try {
    const der = decodeBase64(publicKey);
    if (der.length === spkiBytes && header.every((byte, index) => der[index] === byte)) {
      const key = await crypto.subtle.importKey("spki", der, { name: "ECDH", namedCurve: "P-256" }, true, []);
      return { der, key };
    }
  } catch {
    // The platform refuses a point that is not on the curve.
  }
  throw new CryptoError("invalid_key", "a public key is base64 of the canonical 91-byte SPKI of a P-256 key");
}
