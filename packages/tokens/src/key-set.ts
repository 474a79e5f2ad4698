import type { JWK } from "jose";

/** Public keys by `kid`, fetched when an unknown one is met. */
export interface KeySet {
  /**
   * The key with this id, or null when the issuer has none.
   * @throws what fetching throws, when there is no key by that id yet
   */
  find(kid: string): Promise<JWK | null>;
}

const refetchMilliseconds = 1000;

/**
 * Keeps the keys of an issuer. An unknown id fetches them anew, at most once a second however many ask, so that
 * invented ids cost the issuer nothing.
 * @param fetchKeys all keys of the issuer
 * @param now Unix milliseconds
 */
export function createKeySet(fetchKeys: () => Promise<readonly JWK[]>, now: () => number = Date.now): KeySet {
  let keys = new Map<string, JWK>();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  const refetch = async (): Promise<void> => {
    const fetched = await fetchKeys();
    fetchedAt = now();
    keys = new Map(fetched.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
  };

  return {
    async find(kid) {
      const known = keys.get(kid);
      if (known !== undefined) return known;
      if (now() - fetchedAt >= refetchMilliseconds) {
        fetching ??= refetch().finally(() => (fetching = undefined));
        await fetching;
      }
      return keys.get(kid) ?? null;
    },
  };
}
