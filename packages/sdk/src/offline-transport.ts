import { box, cacheKey, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import { CofferError } from "./errors.ts";
import { dataOf } from "./secret-store.ts";
import { storedBox } from "./stored-box.ts";
import type { MachineConfiguration } from "./machine-configuration.ts";
import type { ApiAnswer, ApiRequest, Transport } from "./transport.ts";

/** Where the last answers are kept between runs. What it is given is sealed: it may be an ordinary file. */
export interface OfflineStorage {
  /** What it is called in messages, such as the path of a file. */
  readonly name?: string | undefined;
  /** What was saved last; undefined when there is nothing. */
  load(): Promise<string | undefined>;
  /** Replaces what was saved, all of it or nothing. */
  save(text: string): Promise<void>;
  /** Removes what was saved. */
  clear(): Promise<void>;
}

export interface OfflineOptions {
  storage: OfflineStorage;
  /** For how long what the service last confirmed is used while it is away. Default 86,400 (a day). */
  maxAgeSeconds?: number | undefined;
  /** Hears that an answer of that time is used, because the service is away as `error` says. */
  onOffline?: ((confirmed: Date, error: CofferError) => void) | undefined;
  /** Hears that the storage could not be written, or held another machine's answers; everything else goes on. */
  onStorageError?: ((error: unknown) => void) | undefined;
}

interface Kept {
  tag: string | null;
  body: unknown;
  /** Unix milliseconds of the answer that last confirmed it. */
  at: number;
  /** What the request asked for of it; absent where it asked for all. */
  query?: string | undefined;
}

interface Saved {
  version: number;
  url: string;
  kept: Record<string, Kept>;
}

/** The answers that a machine needs to begin: all its secrets, the keys of its folders, and what their histories say of them. */
const needed = /^\/api\/sm\/v1\/(?:secrets|folders|folders\/[^/]+\/history)$/;
/** Of a history the newest page is kept, for the entry that it was asked for after. */
const paged = /\/history$/;

/** With something to fall back on nobody waits long for a service that does not answer. */
const patience = { attempts: 1, timeoutMilliseconds: 5_000 };
/** How old a confirmation may be in the storage before an unchanged answer is written down again. */
const confirmMilliseconds = 600_000;

/**
 * A machine's transport that keeps the answers it needs to begin, sealed under a key of its own, and gives them while the
 * service is away or refuses for its rate limit. What the service refuses for the machine's sake (cut off, expired, not
 * from here) is forgotten at once. A restart asks for what has changed only. `now` in Unix milliseconds.
 */
export function offlineTransport(
  transport: Transport,
  machine: MachineConfiguration,
  options: OfflineOptions,
  now: () => number,
): Transport {
  const { storage, maxAgeSeconds = 86_400 } = options;
  let loading: Promise<Map<string, Kept>> | undefined;
  let key: Promise<Uint8Array> | undefined;
  let savedAt = -Infinity;
  let saving: Promise<void> = Promise.resolve();

  const sealKey = (): Promise<Uint8Array> => (key ??= cacheKey(decodeBase64(machine.private_key)));
  const context = contexts.cache(machine.client_id);

  const load = async (): Promise<Map<string, Kept>> => {
    const text = await storedBox(storage);
    if (text === undefined) return new Map();
    try {
      const saved = JSON.parse(decodeText(await unboxBound(await sealKey(), text, context))) as Saved; // we sealed it
      return new Map(saved.version === 1 && saved.url === transport.url ? Object.entries(saved.kept) : []);
    } catch (error) {
      // Another machine's, as after a new bootstrap, or altered: the service has all that it held. The next answer replaces it.
      options.onStorageError?.(error);
      return new Map();
    }
  };

  /** One after another, so that the last one wins. */
  const stored = (work: () => Promise<void>): Promise<void> => {
    saving = saving.then(work).catch((error: unknown) => options.onStorageError?.(error));
    return saving;
  };

  const save = (kept: ReadonlyMap<string, Kept>): Promise<void> => {
    savedAt = now();
    const saved: Saved = { version: 1, url: transport.url, kept: Object.fromEntries(kept) };
    return stored(async () => storage.save(await box(await sealKey(), encodeText(JSON.stringify(saved)), context)));
  };

  const loaded = (): Promise<Map<string, Kept>> =>
    (loading ??= load()).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });

  const isUsable = ({ at }: Kept): boolean => now() - at < maxAgeSeconds * 1000;

  const ask = async (request: ApiRequest): Promise<ApiAnswer> => {
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
      // Both are lists. What is none, a gateway's page say, is used no more than it is kept.
      if (answer.status !== 304) dataOf(answer);
    } catch (error) {
      if (!(error instanceof CofferError)) throw error;
      if (!error.foreign && (error.code === "invalid_token" || error.code === "access_denied")) {
        kept.clear();
        await stored(() => storage.clear());
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
        ? ask(request)
        : transport.send(request),
    async kept(path) {
      const held = (await loaded()).get(path);
      return held !== undefined && isUsable(held) ? answerOf(held) : undefined;
    },
  };
}

function answerOf({ tag, body }: Kept): ApiAnswer {
  return { status: 200, headers: new Headers(tag === null ? {} : { etag: tag }), body };
}

/** Whether the service cannot answer now, for no reason of this machine's: it is away, or another answers in its place. */
function isAway({ code, foreign }: CofferError): boolean {
  return foreign || ["network", "unavailable", "internal_error", "rate_limited", "bad_answer"].includes(code);
}
