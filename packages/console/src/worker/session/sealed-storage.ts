import { box, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import type { Context } from "@coffer/crypto";
import type { PersonSession } from "@coffer/sdk";
import { indexedDbStorage } from "@coffer/sdk/browser";

/** A value of this browser, sealed under the user key. */
export interface SealedStorage<T> {
  /** Undefined before the first `save`. */
  load(): Promise<T | undefined>;
  save(value: T): Promise<void>;
}

export function sealedStorage<T>(
  { user_key }: Pick<PersonSession, "user_key">,
  name: string,
  context: Context,
): SealedStorage<T> {
  const storage = indexedDbStorage(name);
  const key = decodeBase64(user_key);
  return {
    async load() {
      const sealed = await storage.load();
      if (sealed === undefined) return undefined;
      return JSON.parse(decodeText(await unboxBound(key, sealed, context))) as T; // sealed by `save`
    },
    save: async (value) => storage.save(await box(key, encodeText(JSON.stringify(value)), context)),
  };
}
