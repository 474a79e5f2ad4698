import { resolve } from "node:path";
import { StartupError } from "../startup-error.ts";

/** npm runs scripts in the checkout; this is the folder in which a person typed the command. */
const folder = process.env["INIT_CWD"] ?? process.cwd();

export interface FileArguments {
  /** An absolute path, or `null` when none was given. */
  file: string | null;
  yes: boolean;
  help: boolean;
}

/** Reads what follows `npm run backup --` or `npm run restore --`. `flags` are those it takes. Throws StartupError. */
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

/** Where a backup goes that was given no name. */
export function defaultFile(now: Date): string {
  return resolve(folder, `coffer-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup`);
}
