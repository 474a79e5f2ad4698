import type { CofferError } from "./errors.ts";
import { roomIn } from "./poll-schedule.ts";
import { dataOf } from "./secret-store.ts";
import type { OpenFolder, SecretStore } from "./secret-store.ts";
import type { SecretView } from "./views.ts";

interface Entry {
  tag: string | undefined;
  views: SecretView[];
  /** Unix milliseconds of the answer that last confirmed it. */
  at: number;
}

export interface SecretCache {
  /** The secrets of these folders, at most `freshMilliseconds` old; with `attempts` tried so many times at most. */
  views(folders: OpenFolder[], attempts?: number): Promise<SecretView[]>;
  /** The share of the rate limit that was left at the last answer; undefined when it did not say. */
  room(): number | undefined;
  /** Why the last question had no answer of the service's, but one that was kept; undefined when it had. */
  away(): CofferError | undefined;
  /** Makes the next call ask the service, whatever the age. */
  expire(): void;
}

/**
 * Holds lists of sealed secrets in memory. A list that is asked for again is asked for by its entity tag, so that an
 * unchanged one costs next to nothing; calls at the same time share one request.
 */
export function secretCache(store: SecretStore, freshMilliseconds: number, now: () => number): SecretCache {
  const entries = new Map<string, Entry>();
  const pending = new Map<string, Promise<Entry>>();

  let room: number | undefined;
  let away: CofferError | undefined;

  const refresh = async (path: string, attempts: number | undefined): Promise<Entry> => {
    const held = entries.get(path);
    const headers = held?.tag === undefined ? undefined : { "if-none-match": held.tag };
    const answer = await store.send({ method: "GET", path, headers, attempts });
    room = roomIn(answer.headers);
    away = answer.away;
    const entry: Entry =
      answer.status === 304 && held !== undefined
        ? { ...held, at: now() }
        : { tag: answer.headers.get("etag") ?? undefined, views: dataOf(answer) as SecretView[], at: now() };
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
      return found.flatMap(({ views }) => views);
    },
    room: () => room,
    away: () => away,
    expire() {
      for (const entry of entries.values()) entry.at = -Infinity;
    },
  };
}
