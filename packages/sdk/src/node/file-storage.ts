import { readFile, realpath, rm } from "node:fs/promises";
import type { OfflineStorage } from "../http/offline-transport.ts";
import { writePrivateFile } from "./private-file.ts";

/** Stores the data of a machine or device in a file with mode 0600. Its directory must exist. */
export function fileStorage(path: string): OfflineStorage {
  return {
    name: path,
    async load() {
      try {
        return await readFile(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    save: (text) => writePrivateFile(path, `${text}\n`),
    // `save` wrote to the target of a symbolic link.
    clear: async () => rm(await realpath(path).catch(() => path), { force: true }),
  };
}
