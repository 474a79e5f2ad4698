import { readdirSync } from "node:fs";
import { join } from "node:path";
import { endServersIn } from "@coffer/stores";
import { isConfirmed } from "../confirm.ts";
import { othersIn, ownEntries, refuseForeign } from "./data-directory.ts";
import { aboutInstallation } from "./installation.ts";
import { lockFolder } from "./instance-lock.ts";
import { removePlaces, removeTree } from "./stores-place.ts";
import { StartupError } from "../startup-error.ts";

/**
 * Removes everything that Coffer made in the data directory, which the caller has locked; returns the
 * names of the remaining files. Asks first unless `yes`. Throws StartupError if the answer is no, without
 * a terminal, and if the folder is not a data directory of Coffer.
 */
export async function resetDataDirectory(dataDirectory: string, yes: boolean): Promise<string[]> {
  refuseForeign(dataDirectory);
  const entries = readdirSync(dataDirectory).filter((name) => name !== lockFolder && ownEntries.has(name));
  const { stores } = aboutInstallation(dataDirectory) ?? {};
  if (entries.length > 0) {
    if (!yes) await confirm(dataDirectory);
    await endServersIn(dataDirectory);
    // Before the file that names it.
    await removePlaces(dataDirectory, typeof stores === "string" ? stores : null);
    for (const name of entries) removeTree(join(dataDirectory, name));
  }
  return othersIn(dataDirectory);
}

async function confirm(dataDirectory: string): Promise<void> {
  if (!process.stdin.isTTY) throw new StartupError("--reset needs a confirmation: add --yes");
  if (!(await isConfirmed(`Remove the installation in ${dataDirectory} and all its data?`)))
    throw new StartupError("nothing was removed");
}
