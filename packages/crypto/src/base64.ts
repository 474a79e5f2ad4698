import { CryptoError } from "./crypto-error.ts";

/** base64 of RFC 4648 §4, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x2000));
  }
  return btoa(binary);
}

/**
 * Reads base64 of RFC 4648 §4. Each sequence of bytes has exactly one text: missing padding, white
 * space, another alphabet and set bits after the end are refused.
 * @throws CryptoError `invalid_input`
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decode(text);
  if (bytes === null || encodeBase64(bytes) !== text) {
    throw new CryptoError("invalid_input", "not base64 as in RFC 4648 section 4, with padding");
  }
  return bytes;
}

/** base64url of RFC 4648 §5, without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Reads base64url of RFC 4648 §5 without padding, as strictly as `decodeBase64`.
 *
 * @throws CryptoError `invalid_input`
 */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = decode(text.replaceAll("-", "+").replaceAll("_", "/"));
  if (bytes === null || encodeBase64Url(bytes) !== text) {
    throw new CryptoError("invalid_input", "not base64url as in RFC 4648 section 5, without padding");
  }
  return bytes;
}

function decode(text: string): Uint8Array<ArrayBuffer> | null {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
