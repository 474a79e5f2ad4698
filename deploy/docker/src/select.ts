// select.ts manifests|sources CHECKOUT SERVICE TARGET, in the build of an image, where no package
// is installed yet.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

interface Manifest {
  name: string;
  dependencies?: Readonly<Record<string, string>>;
}

/** The folders of the service and of the workspaces that it needs in production, sorted. */
export function neededFolders(checkout: string, service: string): string[] {
  const folders = new Map(
    ["packages", "services"]
      .flatMap((kind) => readdirSync(join(checkout, kind)).map((name) => `${kind}/${name}`))
      .filter((folder) => existsSync(join(checkout, folder, "package.json")))
      .map((folder) => [readManifest(checkout, folder).name, folder]),
  );
  const start = `services/${service}`;
  if (![...folders.values()].includes(start)) throw new Error(`there is no service ${service}`);
  const needed = new Set([start]);
  for (const folder of needed) {
    for (const name of Object.keys(readManifest(checkout, folder).dependencies ?? {})) {
      const other = folders.get(name);
      if (other !== undefined) needed.add(other);
    }
  }
  return [...needed].sort();
}

/**
 * Writes the files from which npm installs the service, without other workspaces and development
 * dependencies: npm counts every workspace as a production dependency.
 */
export function selectManifests(checkout: string, service: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const file of ["package-lock.json", ".npmrc"]) cpSync(join(checkout, file), join(target, file));
  for (const folder of ["", ...neededFolders(checkout, service)]) {
    const { devDependencies: _left, scripts: _unused, ...manifest } = readJson(join(checkout, folder, "package.json"));
    const file = join(target, folder, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

/** Copies the sources of the service and of its workspaces unchanged. */
export function selectSources(checkout: string, service: string, target: string): void {
  for (const folder of neededFolders(checkout, service))
    cpSync(join(checkout, folder, "src"), join(target, folder, "src"), { recursive: true });
}

const readManifest = (checkout: string, folder: string): Manifest =>
  readJson(join(checkout, folder, "package.json")) as unknown as Manifest; // npm has read it before us

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>; // of a manifest, which is an object
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [what, checkout = "", service = "", target = ""] = process.argv.slice(2);
  const work = { manifests: selectManifests, sources: selectSources }[what ?? ""];
  if (work === undefined || target === "")
    throw new Error("usage: select.ts manifests|sources CHECKOUT SERVICE TARGET");
  work(checkout, service, target);
}
