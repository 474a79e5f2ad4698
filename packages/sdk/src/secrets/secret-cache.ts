import type { CofferError } from "../errors.ts";
import type { SecretView } from "../views.ts";
import { remainingIn } from "./poll-schedule.ts";
import { presentViews } from "./secret-expiry.ts";
import { dataOf } from "../http/list-answer.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";

interface Entry {
  tag: string | undefined;
  views: SecretView[];
  /** Unix milliseconds of the last confirmation. */
  at: number;
}

export interface SecretCache {
  /**
   * The secrets of these folders, at most `freshMilliseconds` old, with at most `attempts` tries.
   */
  views(folders: OpenFolder[], attempts?: number): Promise<SecretView[]>;
  /**
   * The share of the rate limit that was left at the last response; undefined when it was missing.
   */
  remaining(): number | undefined;
  /** The error of the service if the last response was a stored one; otherwise undefined. */
  away(): CofferError | undefined;
  /** Makes the next call query the service, whatever the age. */
  expire(): void;
}

/**
 * Caches lists of sealed secrets in memory. A repeated request uses the entity tag, so that an
 * unchanged list costs next to nothing. Concurrent calls share one request. A secret that expires
 * while its list is cached counts as expired at once.
 */
export function secretCache(store: SecretStore, freshMilliseconds: number, now: () => number): SecretCache {
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<Entry>>();

  let remaining: number | undefined;
  let away: CofferError | undefined;

  const refresh = async (path: string, attempts: number | undefined): Promise<Entry> => {
    const held = entries.get(path);
    const headers = held?.tag === undefined ? undefined : { "if-none-match": held.tag };
    const answer = await store.send({ method: "GET", path, headers, attempts });
    remaining = remainingIn(answer.headers);
    away = answer.away;
    const entry: Entry =
      answer.status === 304 && held !== undefined
        ? { ...held, at: now() }
        : { tag: answer.headers.get("etag") ?? undefined, views: dataOf<SecretView>(answer), at: now() };
    entries.set(path, entry);
    return entry;
  };

  const entryOf = (path: string, attempts: number | undefined): Promise<Entry> => {
    const held = entries.get(path);
    if (held !== undefined && now() - held.at < freshMilliseconds) return Promise.resolve(held);
    let request = pending.get(path);
    if (request === undefined) {
      request = refresh(path, attempts).finally(() => pending.delete(path));
      pending.set(path, request);
    }
    return request;
  };

  return {
    async views(folders, attempts) {
      const found = await Promise.all(store.listPaths(folders).map((path) => entryOf(path, attempts)));
      return presentViews(
        found.flatMap(({ views }) => views),
        now(),
        store.caller,
      );
    },
    remaining: () => remaining,
    away: () => away,
    expire() {
      for (const entry of entries.values()) entry.at = -Infinity;
    },
  };
}
