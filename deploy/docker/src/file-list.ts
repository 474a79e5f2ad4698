import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** Each file and link below a folder, with the hash of what it holds or the target of the link. */
export function fileList(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of pathsBelow(folder, "")) {
    const { link, file } = path;
    const content = readContent(join(folder, file), link);
    found.set(file, content);
  }
  return found;
}

/** The sum of the sizes of the files below a folder, in bytes. */
export function sizeOf(folder: string): number {
  return pathsBelow(folder, "").reduce(
    (sum, { file, link }) => sum + (link ? 0 : statSync(join(folder, file)).size),
    0,
  );
}

function readContent(path: string, link: boolean): string {
  if (link) return `-> ${readlinkSync(path)}`;
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function pathsBelow(folder: string, below: string): { file: string; link: boolean }[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = join(below, entry.name);
      return entry.isDirectory() ? pathsBelow(folder, file) : [{ file, link: entry.isSymbolicLink() }];
    });
}
