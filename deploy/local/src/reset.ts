import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { endServersIn } from "@coffer/stores";
import { installationFile } from "./installation.ts";
import { lockFolder } from "./instance-lock.ts";
import { StartupError } from "./startup-error.ts";

/**
 * Empties the data directory, which the caller has locked. Asks first unless `yes`. Throws StartupError when the answer
 * is no, when there is nobody to ask, and when the folder is not a data directory of Coffer.
 */
export async function resetDataDirectory(dataDirectory: string, yes: boolean): Promise<void> {
  const entries = readdirSync(dataDirectory).filter((name) => name !== lockFolder);
  if (entries.length === 0) return;
  if (!existsSync(installationFile(dataDirectory))) {
    throw new StartupError(`${dataDirectory} does not look like a data directory of Coffer: nothing was removed`);
  }
  if (!yes) await confirm(dataDirectory);
  await endServersIn(dataDirectory);
  for (const name of entries) rmSync(join(dataDirectory, name), { recursive: true, force: true, maxRetries: 5 });
}

async function confirm(dataDirectory: string): Promise<void> {
  if (!process.stdin.isTTY) throw new StartupError("--reset asks before it removes anything: add --yes");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Remove everything in ${dataDirectory}? Type yes: `);
    if (answer.trim() !== "yes") throw new StartupError("nothing was removed");
  } finally {
    terminal.close();
  }
}
