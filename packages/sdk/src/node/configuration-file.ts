import { readFile } from "node:fs/promises";
import { CofferError } from "../errors.ts";
import { parseConfiguration } from "../machine-configuration.ts";
import type { MachineConfiguration } from "../machine-configuration.ts";
import { writePrivateFile } from "./private-file.ts";

/**
 * A machine's configuration from `COFFER_CONFIG` or a like value: the JSON itself, or the path of a file with it.
 * Throws CofferError `configuration` when it cannot be read or used.
 */
export async function loadConfiguration(pathOrJson: string): Promise<MachineConfiguration> {
  if (pathOrJson.trimStart().startsWith("{")) return parseConfiguration(pathOrJson);
  let text: string;
  try {
    text = await readFile(pathOrJson, "utf8");
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (cause as Error).message;
    throw new CofferError("configuration", `the machine's configuration ${pathOrJson} cannot be read: ${why}`, {
      cause,
    });
  }
  return parseConfiguration(text);
}

/** Writes a machine's configuration with mode 0600, all of it or nothing. Throws the file system's error. */
export async function saveConfiguration(path: string, configuration: MachineConfiguration): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(configuration, null, 2)}\n`);
}
