import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Manifest } from "./package-folder.ts";
import { readManifest } from "./package-folder.ts";

/** The packages that others install as one, each after those that it needs. */
export const packages = ["crypto", "history", "events", "env", "import", "scan", "sdk", "cli"] as const;

const folderOf = (name: string): string => `packages/${name}`;

/** The file that a source of a package is compiled to, from the checkout. */
function compiled(name: string, source: string, extension: string): string {
  return `${folderOf(name)}/${source.replace(/^\.\/src\//, "dist/").replace(/\.ts$/, extension)}`;
}

/**
 * Makes what was compiled refer to the other packages by path: in the one package they are no packages of their own.
 * Throws an Error for a name that no package exports.
 */
export function joinPackages(checkout: string): void {
  const targets = new Map<string, string>();
  for (const name of packages)
    for (const [path, source] of Object.entries(exportsOf(checkout, name)))
      targets.set(`@coffer/${name}${path.slice(1)}`, compiled(name, source, ".js"));
  for (const name of packages) {
    const dist = join(checkout, folderOf(name), "dist");
    for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }))
      if (/\.(js|d\.ts)$/.test(file)) rewrite(join(dist, file), checkout, targets);
  }
}

function rewrite(file: string, checkout: string, targets: ReadonlyMap<string, string>): void {
  const text = readFileSync(file, "utf8");
  const joined = text.replace(
    /(\bfrom |\bimport |\bimport\()"(@coffer\/[^"]+)"/g,
    (_all, before: string, name: string) => {
      const target = targets.get(name);
      if (target === undefined) throw new Error(`${file}: no package exports ${name}`);
      const path = relative(dirname(file), join(checkout, target));
      return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
    },
  );
  if (joined !== text) writeFileSync(file, joined);
}

function exportsOf(checkout: string, name: string): Record<string, string> {
  return (readManifest(join(checkout, folderOf(name)))["exports"] ?? {}) as Record<string, string>; // our own manifests
}

/**
 * The manifest of the one package: the SDK, with the command. What it needs from elsewhere is packed with it, so that
 * an installation needs no registry.
 */
export function onePackage(checkout: string): Manifest {
  // With the scripts, the next packing makes good one that was cut off.
  const { version, license, scripts } = readManifest(checkout);
  const { name, description, engines } = readManifest(join(checkout, folderOf("sdk")));
  const dependencies = Object.fromEntries(
    packages
      .flatMap((each) => Object.entries(readManifest(join(checkout, folderOf(each)))["dependencies"] ?? {}))
      .filter(([each]) => !each.startsWith("@coffer/"))
      .sort(),
  );
  return {
    name,
    version,
    private: true,
    description,
    license,
    type: "module",
    exports: Object.fromEntries(
      Object.entries(exportsOf(checkout, "sdk")).map(([path, source]) => [
        path,
        { types: `./${compiled("sdk", source, ".d.ts")}`, default: `./${compiled("sdk", source, ".js")}` },
      ]),
    ),
    bin: { coffer: "./packages/cli/bin/coffer.mjs" },
    files: ["packages/*/dist/**", "packages/cli/bin/*.mjs", "packages/cli/package.json"],
    sideEffects: ["./packages/cli/**"],
    engines,
    scripts,
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
}
