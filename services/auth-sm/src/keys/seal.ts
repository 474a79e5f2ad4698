import { createCipheriv, createDecipheriv } from "node:crypto";

const length = { nonce: 12, tag: 16 } as const;
const cipher = "aes-256-gcm";

/**
 * Encrypts a value that the service must decrypt itself, so that a copy of the table alone does not
 * disclose it.
 * @param key 32 bytes
 * @param context authenticated: the kind and owner of the value
 * @param nonce 12 random bytes
 */
export function sealUnder(key: Buffer, plaintext: Buffer, context: string, nonce: Buffer): Buffer {
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, sealing.update(plaintext), sealing.final(), sealing.getAuthTag()]);
}

/**
 * Decrypts a value of `sealUnder`. Throws an Error for another key or context, or a changed value.
 */
export function openUnder(key: Buffer, sealed: Buffer, context: string): Buffer {
  const tagAt = sealed.length - length.tag;
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, length.nonce), { authTagLength: length.tag });
  opening.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt));
  return Buffer.concat([opening.update(sealed.subarray(length.nonce, tagAt)), opening.final()]);
}
