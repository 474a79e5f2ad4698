import { CofferError } from "../errors.ts";
import { foldersFor, requireFolder } from "../folders/fresh-folders.ts";
import { type UsableFolder, usableFolder } from "../folders/usable-folder.ts";
import type { SecretView, WriteView } from "../views.ts";
import { removeField, removeSecret, setExpiry, setField, type SetOptions, type SetResult } from "./change-secret.ts";
import { matching } from "./find-secret.ts";
import { notationScheme, parseNotation, parseSecretNotation } from "./notation.ts";
import { openSecret, readable, type Secret } from "./sealed-secret.ts";
import { type NamedSecrets, namedSecret, readValues } from "./read-by-name.ts";
import { folderById, secretByUid } from "./secret-by-uid.ts";
import { secretCache } from "./secret-cache.ts";
import type { SecretStore } from "./secret-store.ts";
import { isSecretUid } from "./secret-uid.ts";
import { type SecretChange, type Watch, type WatchOptions, watchSecrets } from "./watch-secrets.ts";

export interface SecretsClientOptions {
  /** How long a list is served from memory before it is requested again by its tag. Default 30. */
  freshSeconds?: number | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
  /** Accepts the service's title for a secret without a sealed one. */
  unsealedTitles?: boolean | undefined;
  /**
   * Called for each secret that a list or search omits because it cannot be opened: another
   * program's, or an altered one.
   */
  onUnreadable?: ((uid: string, error: CofferError) => void) | undefined;
}

/**
 * Secrets, decrypted. Every method throws CofferError. All reads but `get` and `search` use one
 * cached list of everything that the caller may see.
 */
export interface SecretsClient {
  /** The caller's folders, from the service. */
  folders(): Promise<UsableFolder[]>;
  /**
   * All secrets, or those of one folder (name or id). Folders whose key the caller does not have
   * are omitted. A person's list has expired secrets too, with `expired`.
   */
  list(folder?: string): Promise<Secret[]>;
  /** One secret by uid, from the service. */
  get(uid: string): Promise<Secret>;
  /**
   * The secret with that uid or exact title, or of a notation: `coffer://<folder>/<title>`, or that
   * of one of its fields. A text in the form of a uid is never a title. Throws CofferError
   * `name_ambiguous` with the uids when several have the title.
   */
  find(name: string): Promise<Secret>;
  /**
   * The value of a notation (`coffer://…`). Throws CofferError `secret_not_found` for an expired
   * secret, to people too: a program must not work with a person's session and fail with a
   * machine's.
   */
  read(notation: string): Promise<string>;
  /** The values of several notations, by notation, from one list. Throws like `read`. */
  readAll(notations: Iterable<string>): Promise<Map<string, string>>;
  /**
   * Secrets whose title contains the text, without regard to case: exact matches first, then
   * prefixes.
   */
  search(title: string): Promise<Secret[]>;
  /**
   * Sets one field and keeps the others. Creates the secret when the folder has none with that
   * title. Throws CofferError `invalid_request` for an expired secret, unless `expiresAt` renews
   * it: machines would not get the value.
   */
  set(notation: string, value: string, options?: SetOptions): Promise<SetResult>;
  /** Sets when a secret expires, RFC 3339, in the future; null for never. Renews an expired one. */
  setExpiry(uid: string, expiresAt: string | null): Promise<WriteView>;
  /**
   * Removes the secret that `find` returns; for the notation of a field, that field, and the secret
   * with its last field. Returns which. It cannot be undone.
   */
  remove(name: string): Promise<{ uid: string; removed: "secret" | "field" }>;
  /**
   * Calls `listener` with changes from now on: one request by the entity tag each minute. Resolves
   * when the current secrets are known, without a request if they were just read. While the rate
   * limit is exhausted, the first request is delayed.
   */
  watch(listener: (changes: SecretChange[]) => void, options?: WatchOptions): Promise<Watch>;
  /** Makes the next read query the service, whatever the age of the cache. */
  expire(): void;
}

/** The operations on secrets that machines and people share. */
export function secretsClient(reached: SecretStore, options: SecretsClientOptions = {}): SecretsClient {
  const store = { ...reached, unsealedTitles: options.unsealedTitles };
  const cache = secretCache(store, (options.freshSeconds ?? 30) * 1000, options.now ?? Date.now);

  const afterwardsExpired = async <T>(change: Promise<T>): Promise<T> => {
    try {
      return await change;
    } finally {
      cache.expire();
    }
  };

  /** Reads once more when a folder's key was changed between opening the folder and a secret. */
  const withNewestKeys = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "conflict") throw error;
      cache.expire();
      return read();
    }
  };

  const openAll = async (views: readonly SecretView[]): Promise<Secret[]> => {
    const folders = await foldersFor(store, views);
    const opening = views.map(async (view) => {
      const folder = folderById(folders, view.folder_id);
      const secret = await readable(folder, openSecret(view, folder));
      if (!(secret instanceof CofferError)) return [secret];
      options.onUnreadable?.(view.uid, secret);
      return [];
    });
    return (await Promise.all(opening)).flat();
  };

  const usableViews = async (attempts?: number): Promise<SecretView[]> => {
    const known = await store.folders(false);
    // An earlier answer may have been false, or the key may have been sealed to the caller since.
    const isLacking = known.some(({ trusted, key }) => trusted === true && key === null);
    const usable = (isLacking ? await store.folders(true) : known).filter(({ key }) => key !== null);
    const views = await cache.views(usable, attempts);
    const folders = await foldersFor(store, views);
    const open = new Set(folders.filter(({ key }) => key !== null).map(({ id }) => id));
    return views.filter((view) => open.has(view.folder_id));
  };

  const all = async (): Promise<Secret[]> => openAll(await usableViews());

  const secrets: NamedSecrets = { store, cache, usableViews };

  const remove = async (name: string): Promise<{ uid: string; removed: "secret" | "field" }> => {
    if (isSecretUid(name)) return removeSecret(store, name);
    const isField = name.startsWith(notationScheme) && parseSecretNotation(name).field !== undefined;
    return isField
      ? removeField(store, parseNotation(name))
      : removeSecret(store, (await namedSecret(secrets, name)).uid);
  };

  return {
    folders: async () => (await store.folders(true)).map(usableFolder),
    list: (nameOrId) =>
      withNewestKeys(async () => {
        if (nameOrId === undefined) return all();
        const folder = await requireFolder(store, nameOrId);
        return openAll((await cache.views([folder])).filter((view) => view.folder_id === folder.id));
      }),
    get: (uid) => withNewestKeys(() => secretByUid(store, uid)),
    find: (name) => withNewestKeys(() => namedSecret(secrets, name)),
    readAll: (notations) => {
      const texts = [...notations];
      return withNewestKeys(() => readValues(secrets, texts));
    },
    async read(notation) {
      return (await withNewestKeys(() => readValues(secrets, [notation]))).get(notation) as string;
    },
    async search(title) {
      if (title === "") throw new CofferError("invalid_request", "a search needs a text to look for");
      return withNewestKeys(async () => {
        const found = store.search(title);
        if (found !== undefined) return openAll(await found);
        return matching(await all(), title);
      });
    },
    set: (notation, value, setOptions = {}) =>
      afterwardsExpired(setField(store, parseNotation(notation), value, setOptions)),
    setExpiry: (uid, expiresAt) => afterwardsExpired(setExpiry(store, uid, expiresAt)),
    remove: (name) => afterwardsExpired(remove(name)),
    watch: (listener, watchOptions = {}) =>
      watchSecrets(
        {
          views: (first) => {
            // Changes are reported relative to the list that was just read.
            if (!first) cache.expire();
            return usableViews(1);
          },
          open: openAll,
          remaining: () => cache.remaining(),
          away: () => cache.away(),
        },
        listener,
        watchOptions,
      ),
    expire: () => cache.expire(),
  };
}
