import { createHash, createHmac, timingSafeEqual } from "node:crypto";

// A refresh token is `cfs1_` and base64url of: session id (16 bytes), generation (4, big-endian),
// secret (32), tag (16). Each generation's secret is derived from the token before it with a server
// key, so the server can issue the successor again without storing tokens. The tag proves that an
// older token is genuine: only a replay of a real token ends a session, never an invented one.

const prefix = "cfs1_";
const length = { id: 16, generation: 4, secret: 32, tag: 16 } as const;
const signed = length.id + length.generation + length.secret;

/** A refresh token whose tag was verified. */
export interface RefreshToken {
  /** The token as the client has it. */
  text: string;
  sessionId: string;
  /** 1 for the first token of a session. */
  generation: number;
}

/**
 * A token without a predecessor: a session's first, or the one after a password change. `secret` is
 * 32 random bytes, `key` the service's own.
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

/** The successor of a token. Deterministic. */
export function nextRefreshToken(key: Buffer, present: RefreshToken): RefreshToken {
  const secret = mac(key, "next", Buffer.from(present.text));
  return newRefreshToken(key, { sessionId: present.sessionId, generation: present.generation + 1, secret });
}

/** Parses and verifies a token; null for one that this service did not make. */
export function parseRefreshToken(key: Buffer, text: string): RefreshToken | null {
  if (!text.startsWith(prefix)) return null;
  const bytes = Buffer.from(text.slice(prefix.length), "base64url");
  const body = bytes.subarray(0, signed);
  if (bytes.length !== signed + length.tag || !timingSafeEqual(bytes.subarray(signed), tagOf(key, body))) return null;
  const token = { sessionId: uuidOf(bytes.subarray(0, length.id)), generation: bytes.readUInt32BE(length.id) };
  // The decoder ignores invalid characters, but a token has exactly one spelling.
  return prefix + bytes.toString("base64url") === text ? { text, ...token } : null;
}

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
