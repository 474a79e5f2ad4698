import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../checkout.ts";
import { installationFile } from "./installation.ts";
import { StartupError } from "../startup-error.ts";

/**
 * If root starts the installation of another user, continues as that user, so that the user can start it
 * again. Returns that user's id, or null. Throws StartupError if that user cannot read the checkout.
 */
export function becomeOwner(dataDirectory: string): number | null {
  const { setgroups, setgid, setuid, getuid } = process;
  const found = statSync(installationFile(dataDirectory), { throwIfNoEntry: false });
  if (found === undefined || found.uid === 0 || getuid?.() !== 0) return null;
  setgroups?.([]);
  setgid?.(found.gid);
  setuid?.(found.uid);
  try {
    accessSync(join(checkout, "package.json"), constants.R_OK);
  } catch (cause) {
    throw new StartupError(
      `${dataDirectory} belongs to user ${found.uid}, who cannot read ${checkout}: start it as that user from another ` +
        "checkout, or set COFFER_DATA_DIR",
      { cause },
    );
  }
  return found.uid;
}
