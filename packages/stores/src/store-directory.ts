import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isReachable, serverUser } from "./server-user.ts";
import { StoreError } from "./store.ts";

/**
 * Makes the folder of a store if it is missing and returns its real path. If this process is root, the
 * store's user may enter but not change the folder, and no other user may enter it. So no store can
 * place a link where root writes next. Throws StoreError.
 */
export function openStoreDirectory(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const here = realpathSync(directory);
  letServerEnter(here);
  return here;
}

/** Lets the store's user enter a folder of root. Throws StoreError if that user still cannot. */
export function letServerEnter(directory: string): void {
  const user = serverUser();
  if (user === null) return;
  if (statSync(directory).uid !== 0) {
    throw new StoreError(
      `${directory} belongs to another user than root: start as that user, or choose another folder`,
    );
  }
  chownSync(directory, 0, user.gid);
  chmodSync(directory, 0o710);
  if (isReachable(directory)) return;
  throw new StoreError(
    `${directory} cannot be reached by ${user.name}, the user that stores run as: choose a folder below one that ` +
      "other users may enter",
  );
}

/**
 * A fresh temporary folder for stores. The caller removes it. `parent` is another folder than the
 * system's temporary one that the store's user can reach.
 */
export function temporaryDirectory(prefix: string, parent?: string): string {
  const parents = [parent ?? tmpdir(), "/tmp", "/var/tmp"];
  const chosen = parents.find((folder) => isReachable(folder)) ?? tmpdir();
  const directory = realpathSync(mkdtempSync(join(chosen, prefix)));
  if (serverUser() !== null) chmodSync(directory, 0o711);
  return directory;
}
