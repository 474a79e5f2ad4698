import { derive } from "./derive.ts";

/**
 * The key that encrypts the cached responses of a machine or device: HKDF of a key that only it
 * has. The cache alone is useless to a thief.
 * @param key the machine's private key (PKCS#8 DER), or the user key
 */
export function cacheKey(key: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return derive(key, "coffer/v1/cache");
}
