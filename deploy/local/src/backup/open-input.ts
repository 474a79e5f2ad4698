import { openSync } from "node:fs";
import { StartupError } from "../startup-error.ts";

/** Opens a backup for reading. Throws StartupError with one line. */
export function openInput(file: string): number {
  try {
    return openSync(file, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = { ENOENT: "there is no such file", EACCES: "this user may not read it" };
    throw new StartupError(`cannot read ${file}: ${reasons[code ?? ""] ?? code ?? String(error)}`, { cause: error });
  }
}
