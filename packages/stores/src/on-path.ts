import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The full path of a program on the PATH, or null. Also searches the folders of daemons. */
export function onPath(program: string): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/sbin", "/usr/sbin", "/sbin"];
  for (const folder of folders) {
    if (folder === "") continue;
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // Not here.
    }
  }
  return null;
}
