import { contexts } from "@coffer/crypto";
import { emptyTrust } from "@coffer/sdk";
import type { PersonSession, TrustRecord, TrustStorage } from "@coffer/sdk";
import { sealedStorage } from "./sealed-storage.ts";

/**
 * The key pins of one person in this browser. Signing out leaves them, so that a service cannot show an older history
 * to the next session.
 */
export function pinStorage(session: Pick<PersonSession, "user" | "user_key">): TrustStorage {
  const { id } = session.user;
  const name = `coffer pins ${id}`;
  const storage = sealedStorage<TrustRecord>(session, name, contexts.devicePins(id));
  const load = async (): Promise<TrustRecord> => (await storage.load()) ?? emptyTrust();
  return {
    load,
    // Other workers of this origin may change it too, where each page has one.
    change: (change) =>
      navigator.locks.request(name, async () => {
        const before = await load();
        const after = change(before);
        if (after !== before) await storage.save(after);
        return after;
      }),
  };
}
