import { derive } from "./derive.ts";
import { requireKey } from "./keys.ts";

/**
 * The key that seals a user key for one passkey: HKDF of what the passkey's PRF (WebAuthn) answers
 * to its salt.
 *
 * @param output 32 bytes
 * @throws CryptoError `invalid_key`
 */
export async function passkeyKey(output: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  requireKey(output);
  return derive(output, "coffer/v1/passkey");
}
