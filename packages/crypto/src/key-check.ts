import { derive } from "./derive.ts";
import { requireKey } from "./keys.ts";
import { toHex } from "./sha256.ts";

/**
 * The check value of a folder or vault key in a history: it identifies the key without disclosing
 * it. HKDF(key, info `coffer/v1/key-check/<res>/<ver>`) as 64 lower-case hexadecimal digits.
 * @param key 32 bytes
 * @param res `folder:<id>` or `vault:<id>`
 * @param ver the version of the key, from 1
 * @throws CryptoError `invalid_key`
 */
export async function keyCheck(key: Uint8Array, res: string, ver: number): Promise<string> {
  requireKey(key);
  return toHex(await derive(key, `coffer/v1/key-check/${res}/${ver}`));
}
