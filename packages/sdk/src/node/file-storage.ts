import { readFile, realpath, rm } from "node:fs/promises";
import type { OfflineStorage } from "../offline-transport.ts";
import { writePrivateFile } from "./private-file.ts";

/** Keeps what a machine or a device holds in a file with mode 0600. Its folder must exist. */
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
    // What `save` wrote is where a symbolic link leads.
    clear: async () => rm(await realpath(path).catch(() => path), { force: true }),
  };
}
