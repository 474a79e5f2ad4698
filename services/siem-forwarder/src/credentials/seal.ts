import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const version = "v1";
const nonceBytes = 12;
const tagBytes = 16;

/** Seals and opens the credentials of SIEM endpoints. */
export interface Sealer {
  /** Seals under the first key. `context` names what the text belongs to; only with it can it be opened. */
  seal(text: string, context: string): string;
  /**
   * Opens with whichever key sealed it. Null when that key is not among the keys, or the sealed
   * text was changed.
   */
  open(sealed: string, context: string): string | null;
  /** The prefix of each text that the first key sealed. */
  readonly currentPrefix: string;
}

/**
 * AES-256-GCM. A sealed text is `v1.<key id>.<nonce, ciphertext and tag in base64url>`.
 * @param keys 32 bytes each, in base64url; the first seals, all open
 */
export function createSealer(keys: readonly string[]): Sealer {
  const byId = new Map(keys.map((text) => Buffer.from(text, "base64url")).map((key) => [idOf(key), key] as const));
  const [current] = byId;
  if (current === undefined) throw new TypeError("a sealer needs a key");
  const [currentId, currentKey] = current;
  const currentPrefix = `${version}.${currentId}.`;
  return {
    currentPrefix,
    seal(text, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", currentKey, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return currentPrefix + sealed.toString("base64url");
    },
    open(sealed, context) {
      const [of, id = "", body = ""] = sealed.split(".");
      const key = byId.get(id);
      const bytes = Buffer.from(body, "base64url");
      if (of !== version || key === undefined || bytes.length < nonceBytes + tagBytes) return null;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
      try {
        return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
      } catch {
        return null;
      }
    },
  };
}

/** Names a key without telling anything of it that helps to find it. */
function idOf(key: Buffer): string {
  return createHash("sha256").update("coffer/siem/key-id/v1\0").update(key).digest("hex").slice(0, 16);
}
