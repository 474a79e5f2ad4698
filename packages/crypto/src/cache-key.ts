import { derive } from "./derive.ts";

/**
 * The key under which a machine keeps what it was answered, for when the service is away: HKDF of its private key, so
 * that whoever has the cache alone has nothing.
 *
 * @param privateKey PKCS#8 DER
 */
export function cacheKey(privateKey: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return derive(privateKey, "coffer/v1/cache");
}
