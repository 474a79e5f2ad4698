import type { OfflineOptions } from "@coffer/sdk";
import { fileStorage } from "@coffer/sdk/node";
import { printNotice } from "./output.ts";

/**
 * Stores a machine's responses in a file, and prints when they are used because the service is
 * unavailable, or when the file is unusable.
 */
export function offlineIn(path: string): OfflineOptions {
  let said: number | undefined;
  return {
    storage: fileStorage(path),
    // The list of secrets and the folders may both use it; print the same message once.
    onOffline: (confirmed, { message }) => {
      if (said === confirmed.getTime()) return;
      said = confirmed.getTime();
      printNotice(`coffer: using the values of ${confirmed.toISOString().replace(/\.\d+Z$/, "Z")}: ${message}`);
    },
    onStorageError: (error) =>
      printNotice(`coffer: --cache ${path}: ${error instanceof Error ? error.message : "it failed"}`),
  };
}
