import { CryptoError } from "./crypto-error.ts";

/** Length of every symmetric key and every seed, in bytes. */
export const keyBytes = 32;

/** A new random key of 32 bytes: user key, vault key, folder key, DEK. */
export function newKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes));
}

/** @throws CryptoError `invalid_key` unless it has exactly 32 bytes */
export function requireKey(key: Uint8Array): void {
  if (key.length !== keyBytes) throw new CryptoError("invalid_key", `a key has ${keyBytes} bytes`);
}
