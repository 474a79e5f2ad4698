import { resolve } from "node:path";
import { StartupError } from "../startup-error.ts";

/** npm runs scripts in the checkout; this is the folder in which the command was typed. */
const folder = process.env["INIT_CWD"] ?? process.cwd();

export interface FileArguments {
  /** An absolute path; null without one. */
  file: string | null;
  yes: boolean;
  help: boolean;
}

/**
 * Parses the arguments of `npm run backup --` or `npm run restore --` with these flags. Throws
 * StartupError.
 */
export function readFileArguments(list: readonly string[], flags: readonly string[]): FileArguments {
  const unknown = list.find((each) => each.startsWith("-") && !flags.includes(each));
  if (unknown !== undefined) throw new StartupError(`no argument "${unknown}": FILE, ${flags.join(", ")}`);
  const files = list.filter((each) => !each.startsWith("-"));
  if (files.length > 1) throw new StartupError(`one file, not ${files.length}: ${files.join(", ")}`);
  const [file] = files;
  return {
    file: file === undefined ? null : resolve(folder, file),
    yes: list.includes("--yes"),
    help: list.includes("--help") || list.includes("-h"),
  };
}

/** The default path of a backup. */
export function defaultFile(now: Date): string {
  return resolve(folder, `coffer-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup`);
}
