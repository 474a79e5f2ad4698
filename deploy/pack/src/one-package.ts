import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Manifest, readManifest } from "./package-folder.ts";

/** The packages that are installed as one, each after its dependencies. */
export const packages = ["contract", "crypto", "history", "events", "env", "import", "scan", "sdk", "cli"] as const;

const folderOf = (name: string): string => `packages/${name}`;

/** The compiled file of a source of a package, from the checkout. */
function compiled(name: string, source: string, extension: string): string {
  return `${folderOf(name)}/${source.replace(/^\.\/src\//, "dist/").replace(/\.ts$/, extension)}`;
}

/**
 * Replaces imports of the other packages by paths: within the one package they are not packages.
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
 * The manifest of the one package: the SDK with the command. Its dependencies are packed with it, so
 * that an installation needs no registry.
 */
export function onePackage(checkout: string): Manifest {
  // With the scripts, the next packing repairs an interrupted one.
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
    files: ["packages/*/dist/**", "packages/cli/bin/*.mjs"],
    sideEffects: ["./packages/cli/**"],
    engines,
    scripts,
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
}
