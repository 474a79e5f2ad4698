import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A cache of verifications, by the SHA-256 of all bytes of the token. */
export interface Remembered<Claims> {
  /** The key of a token, and the result of an earlier verification of the same bytes. */
  find(token: string): { key: string; claims: Claims | undefined };
  add(key: string, claims: Claims): void;
}

const most = 10_000;

/**
 * Caches verified tokens until they expire. The caller checks the state of the session or client each
 * time. A token is identified by its hash, since different bytes may have one signature.
 * @param now Unix milliseconds
 */
export function rememberTokens<Claims extends { expiresAt: number }>(now: () => number): Remembered<Claims> {
  const cache = new LRUCache<string, Claims>({ max: most });
  return {
    find(token) {
      const key = hash("sha256", token, "base64");
      const claims = cache.get(key);
      if (claims === undefined || claims.expiresAt * 1000 > now()) return { key, claims };
      cache.delete(key);
      return { key, claims: undefined };
    },
    add: (key, claims) => void cache.set(key, claims),
  };
}
