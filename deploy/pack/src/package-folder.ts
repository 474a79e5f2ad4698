import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Manifest = Record<string, unknown>;

const manifestIn = (folder: string): string => join(folder, "package.json");
const setAsideIn = (folder: string): string => join(folder, "package.source.json");

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(manifestIn(folder), "utf8")) as Manifest; // npm has read it before us
}

/** Replaces the folder's manifest by another one, and saves the original. */
export function replaceManifest(folder: string, manifest: Manifest): void {
  renameSync(manifestIn(folder), setAsideIn(folder));
  writeFileSync(manifestIn(folder), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Restores the checkout, also after an interrupted packing. */
export function restoreCheckout(checkout: string, packages: readonly string[]): void {
  if (existsSync(setAsideIn(checkout))) renameSync(setAsideIn(checkout), manifestIn(checkout));
  for (const name of packages) rmSync(join(checkout, "packages", name, "dist"), { recursive: true, force: true });
}
