import { box, contexts, decodeBase64, decodeText, encodeText, unboxBound } from "@coffer/crypto";
import { emptyTrust } from "@coffer/sdk";
import type { PersonSession, TrustRecord, TrustStorage } from "@coffer/sdk";
import { indexedDbStorage } from "@coffer/sdk/browser";

/**
 * The key pins of one person in this browser, sealed under the user key. Signing out leaves them, so that a service
 * cannot show an older history to the next session.
 */
export function pinStorage({ user, user_key }: Pick<PersonSession, "user" | "user_key">): TrustStorage {
  const storage = indexedDbStorage(`coffer pins ${user.id}`);
  const key = decodeBase64(user_key);
  const context = contexts.devicePins(user.id);
  const load = async (): Promise<TrustRecord> => {
    const sealed = await storage.load();
    if (sealed === undefined) return emptyTrust();
    return JSON.parse(decodeText(await unboxBound(key, sealed, context))) as TrustRecord; // sealed by this function
  };
  return {
    load,
    // Other workers of this origin may change it too, where each page has one.
    change: (change) =>
      navigator.locks.request(`coffer pins ${user.id}`, async () => {
        const before = await load();
        const after = change(before);
        if (after !== before) await storage.save(await box(key, encodeText(JSON.stringify(after)), context));
        return after;
      }),
  };
}
