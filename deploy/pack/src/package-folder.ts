import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Manifest = Record<string, unknown>;

/** What is in a package's folder only while it is being packed, besides its own files. */
export const temporary = ["dist", "LICENSE"] as const;

const manifestIn = (folder: string): string => join(folder, "package.json");
const setAsideIn = (folder: string): string => join(folder, "package.source.json");

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(manifestIn(folder), "utf8")) as Manifest; // npm has read it before us
}

/** Puts another manifest in the place of the folder's own, which is set aside. */
export function replaceManifest(folder: string, manifest: Manifest): void {
  renameSync(manifestIn(folder), setAsideIn(folder));
  writeFileSync(manifestIn(folder), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Makes the folder what it was before it was packed, also after a packing that was cut off. */
export function restoreFolder(folder: string): void {
  if (existsSync(setAsideIn(folder))) renameSync(setAsideIn(folder), manifestIn(folder));
  for (const name of temporary) rmSync(join(folder, name), { recursive: true, force: true });
}
