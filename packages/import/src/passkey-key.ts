import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "@coffer/crypto";

/**
 * A passkey's private key in a record: PKCS#8 in base64url. Accepts that and PEM; returns any other
 * text unchanged.
 */
export function keyFromPem(pem: string): string {
  const [, inner = ""] = /-----BEGIN PRIVATE KEY-----([A-Za-z\d+/=\s]+)-----END PRIVATE KEY-----/.exec(pem) ?? [];
  try {
    return inner === "" ? pem : encodeBase64Url(decodeBase64(inner.replace(/\s/g, "")));
  } catch {
    return pem;
  }
}

/** The inverse of `keyFromPem`. */
export function keyToPem(key: string): string {
  try {
    const lines = encodeBase64(decodeBase64Url(key)).match(/.{1,64}/g) ?? [];
    return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  } catch {
    return key;
  }
}

/**
 * A credential's id in a record: base64url. Bitwarden writes a UUID for its 16 bytes, or the prefix
 * `b64.`.
 */
export function credentialIdFrom(id: string): string {
  if (id.startsWith("b64.")) return id.slice("b64.".length);
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) return id;
  return encodeBase64Url(
    Uint8Array.from(id.replaceAll("-", "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
  );
}

/** The inverse of `credentialIdFrom` for an id that is no UUID. */
export function credentialIdFor(id: string): string {
  return `b64.${id}`;
}

/**
 * The kind of a P-256 key, the most common one; undefined for others. `key` is PKCS#8 in base64url.
 */
export function kindOfKey(key: string): Record<string, string> | undefined {
  try {
    const hex = Array.from(decodeBase64Url(key), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.includes(oidOfP256) ? { key_type: "public-key", key_algorithm: "ECDSA", key_curve: "P-256" } : undefined;
  } catch {
    return undefined;
  }
}

/** prime256v1 (1.2.840.10045.3.1.7) in DER. */
const oidOfP256 = "06082a8648ce3d030107";
