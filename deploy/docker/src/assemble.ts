import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { buildConsole } from "./build-console.ts";
import { makeReadable } from "./make-readable.ts";
import { selectManifests, selectSources } from "./select.ts";
import { tidy } from "./tidy.ts";

interface Locked {
  link?: boolean;
  resolved?: string;
  dependencies?: Readonly<Record<string, string>>;
  optionalDependencies?: Readonly<Record<string, string>>;
  peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Makes /app of a service's image in `target` without npm's network and without a container: like the
 * Dockerfile, but with the packages of the checkout's node_modules, from the same lock file.
 */
export function assemble(checkout: string, service: string, target: string): void {
  selectManifests(checkout, service, target);
  for (const path of lockedPaths(checkout, service)) {
    const from = join(checkout, path);
    const to = join(target, path);
    // A package for another platform is locked and not installed.
    if (!existsSync(from)) continue;
    mkdirSync(dirname(to), { recursive: true });
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else
      cpSync(from, to, { recursive: true, filter: (each) => each === from || !nested.test(each.slice(from.length)) });
  }
  const bill = execFileSync("npm", ["sbom", "--omit=dev", "--sbom-format=cyclonedx"], {
    cwd: target,
    maxBuffer: 1 << 26,
  });
  writeFileSync(join(target, "sbom.cdx.json"), bill);
  tidy(target, service);
  selectSources(checkout, service, target);
  buildConsole(target, service);
  makeReadable(target);
}

/** A package's own packages are locked separately. */
const nested = /^[\\/]node_modules$/;

/** The paths of the packages that a service needs in production, as the lock file places them. */
export function lockedPaths(checkout: string, service: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>; // of version 3, which npm wrote
  };
  const needed = new Set([`services/${service}`]);
  for (const path of needed) {
    const locked = packages[path] ?? {};
    if (locked.link === true && locked.resolved !== undefined) needed.add(locked.resolved);
    const wanted = { ...locked.dependencies, ...locked.optionalDependencies, ...locked.peerDependencies };
    for (const name of Object.keys(wanted)) {
      const found = placesOf(path, name).find((place) => place in packages);
      if (found !== undefined) needed.add(found);
    }
  }
  needed.add(`node_modules/@coffer/${service}`);
  return [...needed].filter((path) => path.startsWith("node_modules/") || path.includes("/node_modules/")).sort();
}

/** Where Node looks for a package that the package at `path` imports, the nearest first. */
function placesOf(path: string, name: string): string[] {
  const folders = path.split("/");
  return folders
    .map((_, index) => folders.slice(0, folders.length - index))
    .filter((above) => above.at(-1) !== "node_modules")
    .map((above) => `${above.join("/")}/node_modules/${name}`)
    .concat(`node_modules/${name}`);
}
