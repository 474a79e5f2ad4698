import { keyBytes } from "./keys.ts";
import { encodeText } from "./utf8.ts";

/** HKDF-SHA-256 without salt, 32 bytes: the only derivation of this package. */
export async function derive(secret: Uint8Array, info: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", new Uint8Array(secret), "HKDF", false, ["deriveBits"]);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: encodeText(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, keyBytes * 8));
}
