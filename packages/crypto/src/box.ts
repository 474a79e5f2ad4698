import type { CryptoKey } from "jose";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import type { Context } from "./contexts.ts";
import { CryptoError } from "./crypto-error.ts";
import { requireKey } from "./keys.ts";
import { encodeText } from "./utf8.ts";

const version = 0x01;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Box v1: base64( 0x01 ‖ nonce ‖ AES-256-GCM ciphertext ‖ tag ), with the context as additional data.
 *
 * @param key 32 bytes
 * @throws CryptoError `invalid_key`
 */
export async function box(key: Uint8Array, plaintext: Uint8Array, context: Context): Promise<string> {
  return boxWithNonce(key, crypto.getRandomValues(new Uint8Array(nonceBytes)), plaintext, context);
}

/**
 * `box` with a given nonce, for test vectors. Reusing a nonce with one key discloses both
 * plaintexts.
 */
export async function boxWithNonce(
  key: Uint8Array,
  nonce: Uint8Array,
  plaintext: Uint8Array,
  context: Context,
): Promise<string> {
  const additionalData = encodeText(context);
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: view(nonce), additionalData },
    await importKey(key, "encrypt"),
    view(plaintext),
  );
  const bytes = new Uint8Array(1 + nonceBytes + sealed.byteLength);
  bytes[0] = version;
  bytes.set(nonce, 1);
  bytes.set(new Uint8Array(sealed), 1 + nonceBytes);
  return encodeBase64(bytes);
}

/**
 * Opens a box with a bound context, as this package makes it. For keys, which only such clients
 * seal.
 * @throws CryptoError `decryption_failed`, `invalid_input` (not base64), `invalid_key`
 */
export async function unboxBound(key: Uint8Array, text: string, context: Context): Promise<Uint8Array<ArrayBuffer>> {
  const cryptoKey = await importKey(key, "decrypt");
  const opened = await openVersion1(cryptoKey, decodeBase64(text), context);
  if (opened === null) throw failed();
  return opened;
}

/**
 * Opens a box, and the bare `nonce ‖ ciphertext ‖ tag` without additional data of clients that know
 * only the specification. Such a payload is not bound to its context: a server can swap two with
 * the same key. A payload with a context never opens without it, so one form cannot be turned into
 * the other.
 * @throws CryptoError `decryption_failed`, `invalid_input` (not base64), `invalid_key`
 */
export async function unbox(key: Uint8Array, text: string, context: Context): Promise<Uint8Array<ArrayBuffer>> {
  const cryptoKey = await importKey(key, "decrypt");
  const bytes = decodeBase64(text);
  // The nonce of one bare payload in 256 starts with 0x01: then both readings are tried.
  const opened = (await openVersion1(cryptoKey, bytes, context)) ?? (await openAt(cryptoKey, bytes, 0, null));
  if (opened === null) throw failed();
  return opened;
}

async function openVersion1(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  context: Context,
): Promise<Uint8Array<ArrayBuffer> | null> {
  return bytes[0] === version ? openAt(key, bytes, 1, encodeText(context)) : null;
}

async function openAt(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  start: number,
  additionalData: Uint8Array<ArrayBuffer> | null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (bytes.length < start + nonceBytes + tagBytes) return null;
  const iv = bytes.subarray(start, start + nonceBytes);
  const algorithm = additionalData === null ? { name: "AES-GCM", iv } : { name: "AES-GCM", iv, additionalData };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(start + nonceBytes)));
  } catch {
    return null;
  }
}

async function importKey(key: Uint8Array, use: "encrypt" | "decrypt"): Promise<CryptoKey> {
  requireKey(key);
  return crypto.subtle.importKey("raw", view(key), "AES-GCM", false, [use]);
}

function view(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function failed(): CryptoError {
  return new CryptoError("decryption_failed", "wrong key, or the ciphertext was altered or belongs somewhere else");
}
