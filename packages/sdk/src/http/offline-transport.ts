import { box, cacheKey, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import type { MachineConfiguration } from "../machines/machine-configuration.ts";
import { dataOf } from "./list-answer.ts";
import { storedBox } from "./stored-box.ts";
import type { ApiAnswer, ApiRequest, Transport } from "./transport.ts";

/** The storage of responses between runs. Its content is sealed, so it may be an ordinary file. */
export interface OfflineStorage {
  /** Its name in messages, such as the path of a file. */
  readonly name?: string | undefined;
  /** The last saved text; undefined when there is none. */
  load(): Promise<string | undefined>;
  /** Replaces the saved text atomically. */
  save(text: string): Promise<void>;
  clear(): Promise<void>;
}

export interface OfflineOptions {
  storage: OfflineStorage;
  /**
   * How long a stored response is used after its last confirmation while the service is
   * unavailable. Default 86,400 (a day).
   */
  maxAgeSeconds?: number | undefined;
  /**
   * Called when a stored response of that time is used, because the service is unavailable with
   * `error`.
   */
  onOffline?: ((confirmed: Date, error: CofferError) => void) | undefined;
  /**
   * Called when the storage could not be written, or contained another machine's responses. The
   * program continues.
   */
  onStorageError?: ((error: unknown) => void) | undefined;
}

interface StoredAnswer {
  tag: string | null;
  body: unknown;
  /** Unix milliseconds of the last confirmation. */
  at: number;
  /** The query of the request; absent without one. */
  query?: string | undefined;
}

interface Saved {
  version: number;
  url: string;
  kept: Record<string, StoredAnswer>;
}

/**
 * The responses that a machine needs to start: all its secrets, the keys of its folders, and their
 * histories.
 */
const needed = /^\/api\/sm\/v1\/(?:secrets|folders|folders\/[^/]+\/history)$/;
/** For a history the newest page is stored, with the entry that it was requested after. */
const paged = /\/history$/;

/** With a stored response, a client does not wait long for an unresponsive service. */
const patience = { attempts: 1, timeoutMilliseconds: 5_000 };
/** How old a stored confirmation may be before an unchanged response is stored again. */
const confirmMilliseconds = 600_000;

/**
 * A machine's transport that stores the responses it needs to start, sealed under its own key,
 * and returns them while the service is unavailable or the rate limit refuses. A refusal of the
 * machine itself (revoked, expired, wrong address) deletes them at once. A restart requests only
 * changes. `now` in Unix milliseconds.
 */
export function offlineTransport(
  transport: Transport,
  machine: MachineConfiguration,
  options: OfflineOptions,
  now: () => number,
): Transport {
  const { storage, maxAgeSeconds = 86_400 } = options;
  let loading: Promise<Map<string, StoredAnswer>> | undefined;
  let key: Promise<Uint8Array> | undefined;
  let savedAt = -Infinity;
  let saving: Promise<void> = Promise.resolve();

  const sealKey = (): Promise<Uint8Array> => (key ??= cacheKey(decodeBase64(machine.private_key)));
  const context = contexts.cache(machine.client_id);

  const load = async (): Promise<Map<string, StoredAnswer>> => {
    const text = await storedBox(storage);
    if (text === undefined) return new Map();
    try {
      const saved = JSON.parse(decodeText(await unboxBound(await sealKey(), text, context))) as Saved; // we sealed it
      return new Map(saved.version === 1 && saved.url === transport.url ? Object.entries(saved.kept) : []);
    } catch (error) {
      // The storage belongs to another machine, as after a new bootstrap, or was altered. The next
      // response replaces it; the service has all of it.
      options.onStorageError?.(error);
      return new Map();
    }
  };

  /** Writes are serialized, so that the last one wins. */
  const serialized = (work: () => Promise<void>): Promise<void> => {
    saving = saving.then(work).catch((error: unknown) => options.onStorageError?.(error));
    return saving;
  };

  const save = (kept: ReadonlyMap<string, StoredAnswer>): Promise<void> => {
    savedAt = now();
    const saved: Saved = { version: 1, url: transport.url, kept: Object.fromEntries(kept) };
    return serialized(async () => storage.save(await box(await sealKey(), encodeText(JSON.stringify(saved)), context)));
  };

  const loaded = (): Promise<Map<string, StoredAnswer>> =>
    (loading ??= load()).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });

  const isUsable = ({ at }: StoredAnswer): boolean => now() - at < maxAgeSeconds * 1000;

  const sendStored = async (request: ApiRequest): Promise<ApiAnswer> => {
    const kept = await loaded();
    const held = kept.get(request.path);
    const query = request.query === undefined ? undefined : JSON.stringify(request.query);
    const usable = held !== undefined && isUsable(held) && held.query === query ? held : undefined;
    const known = request.headers?.["if-none-match"];
    const headers = known === undefined && usable?.tag != null ? { "if-none-match": usable.tag } : {};
    let answer: ApiAnswer;
    try {
      answer = await transport.send({
        ...request,
        headers: { ...request.headers, ...headers },
        ...(usable === undefined ? {} : patience),
      });
      // Both are lists. Any other body, such as a gateway's page, is neither used nor stored.
      if (answer.status !== 304) dataOf(answer);
    } catch (error) {
      if (!(error instanceof CofferError)) throw error;
      if (!error.foreign && (error.code === "invalid_token" || error.code === "access_denied")) {
        kept.clear();
        await serialized(() => storage.clear());
      }
      if (usable === undefined || !isAway(error)) throw error;
      options.onOffline?.(new Date(usable.at), error);
      return { ...answerOf(usable), away: error };
    }
    if (answer.status !== 304) {
      kept.set(request.path, { tag: answer.headers.get("etag"), body: answer.body, at: now(), query });
      await save(kept);
      return answer;
    }
    if (held === undefined) return answer;
    held.at = now();
    if (now() - savedAt >= confirmMilliseconds) await save(kept);
    return known === undefined ? answerOf(held) : answer;
  };

  return {
    url: transport.url,
    send: (request) =>
      request.method === "GET" && needed.test(request.path) && (request.query === undefined || paged.test(request.path))
        ? sendStored(request)
        : transport.send(request),
    async stored(path) {
      const held = (await loaded()).get(path);
      return held !== undefined && isUsable(held) ? answerOf(held) : undefined;
    },
  };
}

function answerOf({ tag, body }: StoredAnswer): ApiAnswer {
  return { status: 200, headers: new Headers(tag === null ? {} : { etag: tag }), body };
}

/**
 * Whether the service cannot answer now for a reason unrelated to this machine: it is unavailable,
 * or another program answers.
 */
function isAway({ code, foreign }: CofferError): boolean {
  return foreign || ["network", "unavailable", "internal_error", "rate_limited", "bad_answer"].includes(code);
}
