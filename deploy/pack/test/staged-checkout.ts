import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

export const checkout = resolve(import.meta.dirname, "../../..");

/** The packages that others install, each after those that it needs. */
export const published = ["crypto", "history", "events", "env", "import", "sdk", "cli"] as const;

/**
 * What the packing needs of the checkout, in a folder of its own: packing changes a package's manifest for a moment, and
 * other tests read those of the checkout.
 */
export function stageCheckout(folder: string): void {
  for (const name of ["package.json", "tsconfig.base.json", "LICENSE", "deploy/pack/src"])
    cpSync(join(checkout, name), join(folder, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  for (const name of published) {
    const from = join(checkout, "packages", name);
    const to = join(folder, "packages", name);
    const left = ["test", "node_modules"];
    cpSync(from, to, { recursive: true, filter: (path) => dirname(path) !== from || !left.includes(basename(path)) });
    if (existsSync(join(from, "node_modules"))) symlinkSync(join(from, "node_modules"), join(to, "node_modules"));
  }
}

interface Manifest {
  dependencies?: Record<string, string>;
}

/** The folders of everything that the published packages need from elsewhere, as they are installed in the checkout. */
export function dependencyFolders(): string[] {
  const found = new Set<string>();
  const add = (folder: string): void => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith("@coffer/")) continue;
      const installed = installedFor(folder, name);
      if (found.has(installed)) continue;
      found.add(installed);
      add(installed);
    }
  };
  for (const name of published) add(join(checkout, "packages", name));
  return [...found];
}

/** Where Node finds a package that the package in `folder` asks for. */
function installedFor(folder: string, name: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (existsSync(candidate)) return candidate;
    if (at === dirname(at)) throw new Error(`${name}, which ${folder} needs, is not installed`);
  }
}

/** A new folder below `parent`. */
export function newFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder);
  return folder;
}
