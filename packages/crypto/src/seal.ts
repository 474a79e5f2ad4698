import type { CompactDecryptResult, CryptoKey } from "jose";
import type { Context } from "./contexts.ts";
import { CryptoError } from "./crypto-error.ts";
import { importPrivateKey } from "./key-pair.ts";
import { readPublicKey } from "./public-key.ts";

// The library is loaded with the first JWE: every other use of this package starts without it, which is a sixth of the
// time that the command takes to start.
const load = () => import("jose");

const keyAlgorithm = "ECDH-ES+A256KW";
const contentAlgorithm = "A256GCM";
/** Members that change how a JWE is opened; no writer of this format sends them. */
const unwanted = ["zip", "apu", "apv"];

/**
 * Seals to a public key: compact JWE, ECDH-ES+A256KW, A256GCM, the context as `ctx` in the protected header. It is not
 * signed: whoever has the public key can make one. What authenticates it is who hands it out, and the fingerprint.
 *
 * @param publicKey base64 of the canonical SPKI DER of a P-256 key
 * @throws CryptoError `invalid_key`
 */
export async function seal(publicKey: string, plaintext: Uint8Array, context: Context): Promise<string> {
  const { key } = await readPublicKey(publicKey);
  const { CompactEncrypt } = await load();
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: keyAlgorithm, enc: contentAlgorithm, ctx: context })
    .encrypt(key);
}

/**
 * Opens what was sealed to the public key of this private key, as this and nothing else.
 *
 * @param privateKey PKCS#8 DER
 * @throws CryptoError `decryption_failed` (also for any other algorithm), `context_mismatch`, `invalid_key`
 */
export async function openSealed(
  privateKey: Uint8Array,
  sealed: string,
  context: Context,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await importPrivateKey(privateKey, "ECDH");
  const { plaintext, protectedHeader } = await decrypt(key, sealed);
  if (protectedHeader["ctx"] !== context) {
    throw new CryptoError("context_mismatch", "it was sealed to this key, but as something else");
  }
  return new Uint8Array(plaintext);
}

async function decrypt(key: CryptoKey, sealed: string): Promise<CompactDecryptResult> {
  const { compactDecrypt } = await load();
  try {
    const opened = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: [keyAlgorithm],
      contentEncryptionAlgorithms: [contentAlgorithm],
    });
    if (unwanted.every((name) => !Object.hasOwn(opened.protectedHeader, name))) return opened;
  } catch {
    // One answer for every way in which it does not open.
  }
  throw new CryptoError("decryption_failed", "it was not sealed to this key, or it was altered");
}
