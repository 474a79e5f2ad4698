import { createHash, createHmac, timingSafeEqual } from "node:crypto";

// A refresh token is `cfs1_` and base64url of: session id (16 bytes), generation (4, big-endian), secret (32), tag (16).
// The secret of each generation follows from the token before it, by a key that only the server has: the successor can
// be given again without keeping any token. The tag makes an older token known as a genuine one, so that only a real
// replay ends a session, never an invention.

const prefix = "cfs1_";
const length = { id: 16, generation: 4, secret: 32, tag: 16 } as const;
const signed = length.id + length.generation + length.secret;

/** A refresh token of which it is certain that this service made it. */
export interface RefreshToken {
  /** As the client holds it. */
  text: string;
  sessionId: string;
  /** 1 for the first token of a session. */
  generation: number;
}

/**
 * A token that follows from none: the first of a session, or the one after its password has changed. `secret` is 32
 * random bytes, `key` the service's own.
 */
export function newRefreshToken(
  key: Buffer,
  { sessionId, generation, secret }: { sessionId: string; generation: number; secret: Buffer },
): RefreshToken {
  const body = Buffer.alloc(signed);
  body.write(sessionId.replaceAll("-", ""), "hex");
  body.writeUInt32BE(generation, length.id);
  secret.copy(body, length.id + length.generation);
  const text = prefix + Buffer.concat([body, tagOf(key, body)]).toString("base64url");
  return { text, sessionId, generation };
}

/** The token that follows this one: always the same. */
export function nextRefreshToken(key: Buffer, present: RefreshToken): RefreshToken {
  const secret = mac(key, "next", Buffer.from(present.text));
  return newRefreshToken(key, { sessionId: present.sessionId, generation: present.generation + 1, secret });
}

/** The token that a text is; null when this service never made it. */
export function parseRefreshToken(key: Buffer, text: string): RefreshToken | null {
  if (!text.startsWith(prefix)) return null;
  const bytes = Buffer.from(text.slice(prefix.length), "base64url");
  const body = bytes.subarray(0, signed);
  if (bytes.length !== signed + length.tag || !timingSafeEqual(bytes.subarray(signed), tagOf(key, body))) return null;
  const token = { sessionId: uuidOf(bytes.subarray(0, length.id)), generation: bytes.readUInt32BE(length.id) };
  // Decoding overlooks what is no base64url; a token has one spelling.
  return prefix + bytes.toString("base64url") === text ? { text, ...token } : null;
}

/** What is kept of the present token. */
export function hashRefreshToken({ text }: RefreshToken): Buffer {
  return createHash("sha256").update(text).digest();
}

function tagOf(key: Buffer, body: Buffer): Buffer {
  return mac(key, "tag", body).subarray(0, length.tag);
}

function mac(key: Buffer, purpose: "next" | "tag", content: Buffer): Buffer {
  return createHmac("sha256", key).update(purpose).update("\0").update(content).digest();
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
