import { createCipheriv, createDecipheriv } from "node:crypto";

const length = { nonce: 12, tag: 16 } as const;
const cipher = "aes-256-gcm";

/**
 * Seals what the service itself must be able to open, so that a copy of its table alone shows nothing.
 * @param key 32 bytes
 * @param context what it is and whose: what was sealed for one does not open as another
 * @param nonce 12 random bytes
 */
export function sealUnder(key: Buffer, plaintext: Buffer, context: string, nonce: Buffer): Buffer {
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, sealing.update(plaintext), sealing.final(), sealing.getAuthTag()]);
}

/** Opens what `sealUnder` has sealed. Throws an Error when key or context is another, or it was changed. */
export function openUnder(key: Buffer, sealed: Buffer, context: string): Buffer {
  const tagAt = sealed.length - length.tag;
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, length.nonce), { authTagLength: length.tag });
  opening.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt));
  return Buffer.concat([opening.update(sealed.subarray(length.nonce, tagAt)), opening.final()]);
}
