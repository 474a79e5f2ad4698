import type { OfflineOptions } from "@coffer/sdk";
import { fileStorage } from "@coffer/sdk/node";
import { tell } from "./output.ts";

/**
 * Keeps what a machine needs in a file, and says on stderr when it is used because the service is away, and when the
 * file is of no use.
 */
export function offlineIn(path: string): OfflineOptions {
  let said: number | undefined;
  return {
    storage: fileStorage(path),
    // The list of secrets and the folders may be asked for one after the other: what is the same is said once.
    onOffline: (confirmed, { message }) => {
      if (said === confirmed.getTime()) return;
      said = confirmed.getTime();
      tell(`coffer: using the values of ${confirmed.toISOString().replace(/\.\d+Z$/, "Z")}: ${message}`);
    },
    onStorageError: (error) => tell(`coffer: --cache ${path}: ${error instanceof Error ? error.message : "it failed"}`),
  };
}
