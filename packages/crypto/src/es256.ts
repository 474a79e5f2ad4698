import type { CryptoKey } from "jose";
import { importPrivateKey } from "./key-pair.ts";
import { importPublicKey } from "./public-key.ts";

const algorithm = { name: "ECDSA", hash: "SHA-256" } as const;
const signatureBytes = 64;

/**
 * Signs bytes with ECDSA P-256 and SHA-256 (ES256 of RFC 7518 section 3.4).
 *
 * @param privateKey PKCS#8 DER
 * @returns r and s, 32 bytes each
 * @throws CryptoError `invalid_key`
 */
export async function signEs256(privateKey: Uint8Array, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const key = await importPrivateKey(privateKey, "ECDSA");
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, new Uint8Array(bytes)));
}

/**
 * Verifies a signature of 64 bytes (r and s); refuses DER. Signatures are malleable: several verify
 * for the same bytes, so a signature is not an identity.
 *
 * @param publicKey base64 of the canonical SPKI DER
 * @throws CryptoError `invalid_key`
 */
export async function verifyEs256(publicKey: string, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const key: CryptoKey = await importPublicKey(publicKey, "ECDSA");
  if (signature.length !== signatureBytes) return false;
  return crypto.subtle.verify(algorithm, key, new Uint8Array(signature), new Uint8Array(bytes));
}
