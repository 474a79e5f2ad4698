import { readFile } from "node:fs/promises";
import { CofferError } from "../errors.ts";
import { configurationText, type MachineConfiguration, parseConfiguration } from "../machines/machine-configuration.ts";
import { writePrivateFile } from "./private-file.ts";

/**
 * Loads a machine's configuration from `COFFER_CONFIG` or a similar value: the JSON itself, its
 * base64, or the path of a file with either. Throws CofferError `configuration` when it cannot be
 * read or used. Neither the error nor its cause quotes the value: a presumed path may be a broken
 * configuration.
 */
export async function loadConfiguration(given: string): Promise<MachineConfiguration> {
  if (configurationText(given) !== undefined) return parseConfiguration(given);
  return parseConfiguration(await readFile(given, "utf8").catch(unreadable));
}

function unreadable(error: NodeJS.ErrnoException): never {
  const absent = ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"].includes(error.code ?? "");
  throw new CofferError(
    "configuration",
    absent
      ? "the machine's configuration cannot be read: there is no such file, and it is neither JSON nor the base64 of JSON"
      : `the file of the machine's configuration cannot be read (${error.code ?? "unknown"})`,
  );
}

/** Writes a machine's configuration atomically with mode 0600. Throws the file system's error. */
export async function saveConfiguration(path: string, configuration: MachineConfiguration): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(configuration, null, 2)}\n`);
}
