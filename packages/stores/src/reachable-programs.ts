import { chmodSync, copyFileSync, linkSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { isReachable } from "./server-user.ts";

/**
 * The command line of a server, with copies of its files below `<directory>/programs` if the store's
 * user cannot reach them, as in a checkout in root's home. `directory` is the folder of the store.
 */
export function reachableCommand(command: readonly string[], directory: string): string[] {
  const folder = join(directory, "programs");
  rmSync(folder, { recursive: true, force: true });
  const file = command.at(-1) ?? "";
  if (isReachable(file)) return [...command];
  mkdirSync(folder, { mode: 0o755 });
  // Servers use the name by which they are started.
  const copy = join(folder, basename(file));
  provide(realpathSync(file), copy);
  const before = command.slice(0, -1).map((part, index) => {
    const [, libraries] = /^LD_LIBRARY_PATH=(.*)$/s.exec(part) ?? [];
    if (libraries === undefined) return part;
    const copies = libraries.split(":").map((from, nth) => {
      const to = join(folder, `libraries-${index}-${nth}`);
      provideFolder(from, to);
      return to;
    });
    return `LD_LIBRARY_PATH=${copies.join(":")}`;
  });
  return [...before, copy];
}

/** As `reachableCommand` for Postgres, whose programs need the folders beside them. */
export function reachableBinaries(binaries: PostgresBinaries, directory: string): PostgresBinaries {
  const folder = join(directory, "programs");
  rmSync(folder, { recursive: true, force: true });
  if (isReachable(binaries.initdb) && isReachable(binaries.postgres)) return binaries;
  provideFolder(dirname(dirname(binaries.postgres)), folder);
  const at = (path: string): string => join(folder, basename(dirname(path)), basename(path));
  return { initdb: at(binaries.initdb), postgres: at(binaries.postgres) };
}

function provideFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 });
  chmodSync(to, 0o755);
  for (const name of readdirSync(from)) {
    const source = join(from, name);
    const found = statSync(source, { throwIfNoEntry: false });
    if (found === undefined) continue; // a link to nothing
    if (found.isDirectory()) provideFolder(source, join(to, name));
    else if (found.isFile()) provide(realpathSync(source), join(to, name));
  }
}

/** Makes `to` a link to the file, or a copy on another disk or of a file that not every user may read. */
function provide(from: string, to: string): void {
  const { mode } = statSync(from);
  const wanted = (mode & 0o100) === 0 ? 0o644 : 0o755;
  if ((mode & 0o777 & wanted) === wanted) {
    try {
      linkSync(from, to);
      return;
    } catch {
      // Another file system, or one without links.
    }
  }
  copyFileSync(from, to);
  chmodSync(to, wanted);
}
