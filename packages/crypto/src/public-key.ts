import type { CryptoKey } from "jose";
import { decodeBase64 } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";

/**
 * The SPKI of every P-256 key in its canonical form: this header, then the uncompressed point of 65
 * bytes.
 */
const header = decodeBase64("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE");
const spkiBytes = 91;

/**
 * Reads a public key from outside: base64 of the canonical 91-byte SPKI DER of a point on P-256.
 * Compressed points, explicit parameters and trailing bytes are refused.
 * @returns the DER and the key for ECDH
 * @throws CryptoError `invalid_key`
 */
export async function readPublicKey(publicKey: string): Promise<{ der: Uint8Array<ArrayBuffer>; key: CryptoKey }> {
  const der = canonicalDer(publicKey);
  return { der, key: await importDer(der, "ECDH") };
}

/**
 * Imports a public key for one use; accepts what `readPublicKey` accepts. @throws CryptoError
 * `invalid_key`
 */
export async function importPublicKey(publicKey: string, algorithm: "ECDSA" | "ECDH"): Promise<CryptoKey> {
  return importDer(canonicalDer(publicKey), algorithm);
}

function canonicalDer(publicKey: string): Uint8Array<ArrayBuffer> {
  let der: Uint8Array<ArrayBuffer>;
  try {
    der = decodeBase64(publicKey);
  } catch {
    throw invalid();
  }
  if (der.length !== spkiBytes || !header.every((byte, index) => der[index] === byte)) throw invalid();
  return der;
}

async function importDer(der: Uint8Array<ArrayBuffer>, name: "ECDSA" | "ECDH"): Promise<CryptoKey> {
  const uses: ["verify"] | [] = name === "ECDSA" ? ["verify"] : [];
  try {
    return await crypto.subtle.importKey("spki", der, { name, namedCurve: "P-256" }, true, uses);
  } catch {
    // The platform refuses a point that is not on the curve.
    throw invalid();
  }
}

function invalid(): CryptoError {
  return new CryptoError("invalid_key", "a public key is base64 of the canonical 91-byte SPKI of a P-256 key");
}
