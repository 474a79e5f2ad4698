import { derive } from "./derive.ts";

/**
 * The key under which a machine or a person's device keeps what it was answered, for when the service is away: HKDF of
 * a key that only it has, so that whoever has the cache alone has nothing.
 *
 * @param key the machine's private key (PKCS#8 DER), or the user key
 */
export function cacheKey(key: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return derive(key, "coffer/v1/cache");
}
