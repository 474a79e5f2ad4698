import type { OfflineStorage } from "@coffer/sdk";
import { fileStorage } from "@coffer/sdk/node";

/** The storage in a file, and whether the last write failed. */
export function watchedStore(path: string): { storage: OfflineStorage; failed(): boolean } {
  const file = fileStorage(path);
  let failed = false;
  return {
    storage: {
      ...file,
      async save(text) {
        failed = true;
        await file.save(text);
        failed = false;
      },
    },
    failed: () => failed,
  };
}
