import type { CryptoKey } from "jose";
import { decodeBase64Url, encodeBase64 } from "./base64.ts";
import { CryptoError } from "./crypto-error.ts";

/** A P-256 key pair of a person or a machine. One pair serves ES256 and ECDH. */
export interface KeyPair {
  /** base64 of the canonical SPKI DER, which the server stores. */
  publicKey: string;
  /** PKCS#8 DER, sealed with the user key or stored in a machine's configuration. */
  privateKey: Uint8Array<ArrayBuffer>;
}

/** A new random key pair. */
export async function newKeyPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  return {
    publicKey: encodeBase64(new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey))),
    privateKey: new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey)),
  };
}

/**
 * Computes the public key of a private key, so that a client does not have to trust the server's
 * answer.
 * @param privateKey PKCS#8 DER
 * @returns base64 of the canonical SPKI DER
 * @throws CryptoError `invalid_key`
 */
export async function publicKeyOf(privateKey: Uint8Array): Promise<string> {
  const key = await importPrivateKey(privateKey, "ECDSA", true);
  const { x, y } = await crypto.subtle.exportKey("jwk", key);
  if (x === undefined || y === undefined) throw invalid();
  const point = new Uint8Array([0x04, ...decodeBase64Url(x), ...decodeBase64Url(y)]);
  const publicKey = await crypto.subtle.importKey("raw", point, { name: "ECDSA", namedCurve: "P-256" }, true, [
    "verify",
  ]);
  return encodeBase64(new Uint8Array(await crypto.subtle.exportKey("spki", publicKey)));
}

/** Reads a PKCS#8 DER for one use. @throws CryptoError `invalid_key` */
export async function importPrivateKey(
  privateKey: Uint8Array,
  algorithm: "ECDSA" | "ECDH",
  extractable = false,
): Promise<CryptoKey> {
  const uses: ["sign"] | ["deriveBits"] = algorithm === "ECDSA" ? ["sign"] : ["deriveBits"];
  try {
    const parameters = { name: algorithm, namedCurve: "P-256" };
    return await crypto.subtle.importKey("pkcs8", new Uint8Array(privateKey), parameters, extractable, uses);
  } catch {
    throw invalid();
  }
}

function invalid(): CryptoError {
  return new CryptoError("invalid_key", "a private key is the PKCS#8 DER of a P-256 key");
}
