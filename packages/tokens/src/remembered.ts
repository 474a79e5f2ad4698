import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** Verifications that need not be done again, by the SHA-256 of all bytes of the token. */
export interface Remembered<Claims> {
  /** The key of a token, and what was found when the same bytes were verified before. */
  find(token: string): { key: string; claims: Claims | undefined };
  add(key: string, claims: Claims): void;
}

const most = 10_000;

/**
 * Remembers genuine tokens until they expire. It says nothing about the state of whom they name, which is asked each
 * time; and a token is known by its hash alone, since different bytes may carry the same signature.
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
