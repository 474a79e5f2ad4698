import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { packages } from "./one-package.ts";

export const checkout = resolve(import.meta.dirname, "../../..");

/**
 * The parts of the checkout for a packing, in their own folder: packing changes a manifest for a moment,
 * and other tests read those of the checkout.
 */
export function stageCheckout(folder: string): void {
  const files = ["package.json", "package-lock.json", "tsconfig.base.json", "LICENSE", "README.md", "deploy/pack/src"];
  for (const name of [...files, "deploy/local/launch.mjs", "deploy/local/supervise-server.mjs"])
    cpSync(join(checkout, name), join(folder, name), { recursive: true });
  // The command carries the manifest of the console.
  for (const name of [...packages, "console"]) {
    const from = join(checkout, "packages", name);
    const left = ["test", "node_modules", "dist"];
    cpSync(from, join(folder, "packages", name), {
      recursive: true,
      filter: (path) => dirname(path) !== from || !left.includes(basename(path)),
    });
  }
  linkModules(folder);
}

/** Links to the installed packages, except those that are packed too, which must be below the folder. */
function linkModules(folder: string): void {
  const packed = new Set(dependencyFolders().map((path) => relative(checkout, path)));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  const place = (name: string): void => {
    const from = join(checkout, "node_modules", name);
    if (packed.has(`node_modules/${name}`)) execFileSync("cp", ["-RL", from, join(modules, name)]);
    else symlinkSync(from, join(modules, name));
  };
  for (const name of readdirSync(join(checkout, "node_modules"))) {
    if (!name.startsWith("@")) {
      place(name);
      continue;
    }
    mkdirSync(join(modules, name));
    for (const inner of readdirSync(join(checkout, "node_modules", name))) place(`${name}/${inner}`);
  }
}

interface Manifest {
  dependencies?: Record<string, string>;
}

/** The folders of all external dependencies, as installed in the checkout. */
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
  for (const name of packages) add(join(checkout, "packages", name));
  return [...found];
}

/** Where Node finds a package that the package in `folder` imports. */
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
