import { readPublicKey } from "./public-key.ts";
import { sha256, toHex } from "./sha256.ts";

const wordBits = 11;
const words = 6;

/** The forms in which two people compare a public key. */
export interface Fingerprint {
  /** SHA-256 of the SPKI DER, 64 lower-case hexadecimal digits. */
  hex: string;
  /** Its first 66 bits as six words of BIP-39's English list, separated by spaces. */
  words: string;
}

/**
 * The fingerprint of a public key, which people compare by voice or on paper before they share with
 * it.
 * @param publicKey base64 of the canonical SPKI DER
 * @throws CryptoError `invalid_key`
 */
export async function fingerprint(publicKey: string): Promise<Fingerprint> {
  const { der } = await readPublicKey(publicKey);
  const hash = await sha256(der);
  // Large, and needed for a comparison only: a browser loads it by itself.
  const { wordlist } = await import("@scure/bip39/wordlists/english.js");
  const spoken = Array.from({ length: words }, (_, index) => wordlist[numberAt(hash, index)] ?? "").join(" ");
  return { hex: toHex(hash), words: spoken };
}

function numberAt(hash: Uint8Array, index: number): number {
  let number = 0;
  for (let bit = index * wordBits; bit < (index + 1) * wordBits; bit += 1) {
    number = number * 2 + (((hash[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
  }
  return number;
}
