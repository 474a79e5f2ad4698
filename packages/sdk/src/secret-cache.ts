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
  /** The secrets of these folders, at most `freshMilliseconds` old. */
  views(folders: OpenFolder[]): Promise<SecretView[]>;
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

  const refresh = async (path: string): Promise<Entry> => {
    const held = entries.get(path);
    const headers = held?.tag === undefined ? undefined : { "if-none-match": held.tag };
    const answer = await store.send({ method: "GET", path, headers });
    const entry: Entry =
      answer.status === 304 && held !== undefined
        ? { ...held, at: now() }
        : { tag: answer.headers.get("etag") ?? undefined, views: dataOf(answer) as SecretView[], at: now() };
    entries.set(path, entry);
    return entry;
  };

  const entryOf = (path: string): Promise<Entry> => {
    const held = entries.get(path);
    if (held !== undefined && now() - held.at < freshMilliseconds) return Promise.resolve(held);
    let request = pending.get(path);
    if (request === undefined) {
      request = refresh(path).finally(() => pending.delete(path));
      pending.set(path, request);
    }
    return request;
  };

  return {
    async views(folders) {
      const found = await Promise.all(store.listPaths(folders).map(entryOf));
      return found.flatMap(({ views }) => views);
    },
    expire() {
      for (const entry of entries.values()) entry.at = -Infinity;
    },
  };
}
