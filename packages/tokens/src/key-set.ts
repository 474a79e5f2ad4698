import { ServiceError } from "@coffer/errors";
import type { JWK } from "jose";

/** Public keys by `kid`, fetched for an unknown one. */
export interface KeySet {
  /**
   * The key with this id; null if the issuer has none.
   * @throws ServiceError `unavailable` for an unknown key while the issuer does not answer
   */
  find(kid: string): Promise<JWK | null>;
}

/** The least interval between requests to the issuer, so that invented ids cost it nothing. */
const refetchMilliseconds = 1000;
/** The age of the set at which it is fetched again, so that a revoked key ceases to count. */
const staleMilliseconds = 300_000;

/**
 * Caches the keys of an issuer. Fetches them for an unknown id, at most once a second, and after five
 * minutes; while they cannot be fetched, the cached ones are used.
 * @param fetchKeys all keys of the issuer
 * @param now milliseconds, monotonic
 */
export function createKeySet(
  fetchKeys: () => Promise<readonly JWK[]>,
  now: () => number = () => performance.now(),
): KeySet {
  let keys = new Map<string, JWK>();
  let requestedAt = -Infinity;
  let fetchedAt = -Infinity;
  let failure: unknown = null;
  let fetching: Promise<void> | null = null;

  const refetch = async (): Promise<void> => {
    requestedAt = now();
    try {
      const fetched = await fetchKeys();
      keys = new Map(fetched.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
      fetchedAt = requestedAt;
      failure = null;
    } catch (error) {
      failure = error;
    }
  };
  const refetchOnce = (): Promise<void> => {
    if (fetching !== null) return fetching;
    if (now() - requestedAt < refetchMilliseconds) return Promise.resolve();
    fetching = refetch().finally(() => (fetching = null));
    return fetching;
  };

  return {
    async find(kid) {
      if (!keys.has(kid) || now() - fetchedAt >= staleMilliseconds) await refetchOnce();
      const key = keys.get(kid);
      if (key === undefined && failure !== null) throw unavailable(failure);
      return key ?? null;
    },
  };
}

function unavailable(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  return new ServiceError("unavailable", "access tokens cannot be verified at the moment", {
    retryAfterSeconds: 1,
    cause,
  });
}
