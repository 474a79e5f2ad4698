import type { CompactDecryptResult, CryptoKey } from "jose";
import type { Context } from "./contexts.ts";
import { CryptoError } from "./crypto-error.ts";
import { importPrivateKey } from "./key-pair.ts";
import { readPublicKey } from "./public-key.ts";

// Loads the library with the first JWE. Other uses of this package start without it, which saves a
// sixth of the command's start time.
const load = () => import("jose");

const keyAlgorithm = "ECDH-ES+A256KW";
const contentAlgorithm = "A256GCM";
/** Members that change how a JWE is opened. No writer of this format sends them. */
const unwanted = ["zip", "apu", "apv"];

/**
 * Seals to a public key: compact JWE, ECDH-ES+A256KW, A256GCM, the context as `ctx` in the
 * protected header. It is not signed: anyone with the public key can make one. Its authenticity
 * comes from its source and the fingerprint.
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
 * Opens a value that was sealed to the public key of this private key, with exactly this context.
 * @param privateKey PKCS#8 DER
 * @throws CryptoError `decryption_failed` (also for any other algorithm), `context_mismatch`,
 * `invalid_key`
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
    // All failures give the same error.
  }
  throw new CryptoError("decryption_failed", "it was not sealed to this key, or it was altered");
}
