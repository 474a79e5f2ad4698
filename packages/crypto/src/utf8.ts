import { CryptoError } from "./crypto-error.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The UTF-8 bytes of a text.
 * @throws CryptoError `invalid_input` for a lone surrogate, which UTF-8 cannot represent
 */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  if (!text.isWellFormed()) throw new CryptoError("invalid_input", "the text holds half of a surrogate pair");
  return encoder.encode(text);
}

/**
 * The text of opened UTF-8 bytes.
 *
 * @throws CryptoError `invalid_plaintext`
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CryptoError("invalid_plaintext", "the opened data is not UTF-8");
  }
}
