import { ServiceError } from "@coffer/errors";
import type { JWK } from "jose";

/** Public keys by `kid`, fetched when an unknown one is met. */
export interface KeySet {
  /**
   * The key with this id, or null when the issuer has none.
   * @throws ServiceError `unavailable` when there is no key by that id here and the issuer could not be asked
   */
  find(kid: string): Promise<JWK | null>;
}

/** How often the issuer is asked at most, so that invented ids cost it nothing. */
const refetchMilliseconds = 1000;
/** After how long it is asked although the id is known, so that a key that was withdrawn ceases to count. */
const staleMilliseconds = 300_000;

/**
 * Keeps the keys of an issuer. They are fetched for an unknown id, at most once a second however many ask and whether
 * or not it succeeds, and when they are five minutes old; while they cannot be fetched, those at hand serve.
 * @param fetchKeys all keys of the issuer
 * @param now milliseconds of a clock that never goes back
 */
export function createKeySet(
  fetchKeys: () => Promise<readonly JWK[]>,
  now: () => number = () => performance.now(),
): KeySet {
  let keys = new Map<string, JWK>();
  let askedAt = -Infinity;
  let fetchedAt = -Infinity;
  let failure: unknown = null;
  let fetching: Promise<void> | null = null;

  const refetch = async (): Promise<void> => {
    askedAt = now();
    try {
      const fetched = await fetchKeys();
      keys = new Map(fetched.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key]])));
      fetchedAt = askedAt;
      failure = null;
    } catch (error) {
      failure = error;
    }
  };
  const refetchOnce = (): Promise<void> => {
    if (fetching !== null) return fetching;
    if (now() - askedAt < refetchMilliseconds) return Promise.resolve();
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
