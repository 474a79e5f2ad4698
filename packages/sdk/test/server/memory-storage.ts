import type { OfflineStorage } from "../../src/index.ts";

/** A storage, and what it holds. */
export function memoryStorage(): { storage: OfflineStorage; text(): string } {
  let held: string | undefined;
  return {
    text: () => held ?? "",
    storage: {
      load: () => Promise.resolve(held),
      save(text) {
        held = text;
        return Promise.resolve();
      },
      clear() {
        held = undefined;
        return Promise.resolve();
      },
    },
  };
}
