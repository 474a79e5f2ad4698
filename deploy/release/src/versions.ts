import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A place that has the version of the release. */
interface Place {
  file: string;
  what: string;
  /** Groups: the text before the version, the version, the text after it. */
  find: RegExp;
}

/** The versions of Coffer: numbers alone, or a pre-release such as 1.2.0-rc.1. */
const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z]+(\.[0-9a-z]+)*)?$/;

const lockFile = "package-lock.json";
/** What npm has installed. Every npm script installs again if this differs from the lock file. */
const installedFile = "node_modules/.package-lock.json";

/** @throws Error for a text that is no version of semantic versioning */
export function requireVersion(version: string): void {
  if (!versionPattern.test(version)) throw new Error(`"${version}" is not a version such as 1.2.0 or 1.2.0-rc.1`);
}

/** The version of the root's package.json: the others are compared with it. */
export function mainVersion(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }; // ours
  requireVersion(version);
  return version;
}

/** Every place that has the version, package.json first. */
export function versionPlaces(root: string): Place[] {
  return [...manifestPlaces(root), ...fixedPlaces].sort(
    (a, b) => Number(b.file === "package.json") - Number(a.file === "package.json"),
  );
}

const fixedPlaces: readonly Place[] = [
  { file: "charts/coffer/Chart.yaml", what: "version", find: /^(version: )(.*)($)/m },
  { file: "charts/coffer/Chart.yaml", what: "appVersion", find: /^(appVersion: )(.*)($)/m },
  { file: "packages/sdk/src/version.ts", what: "the command's --version", find: /(version = ")(.*)(";)/ },
  { file: "packages/sdk/README.md", what: "the name of the package", find: /(\/coffer-)(\d.*)(\.tgz)/ },
  { file: "docs/spec/api/openapi.yaml", what: "info.version", find: /^( {2}version: )(.*)($)/m },
  { file: "docs/spec/openapi.json", what: "info.version", find: /^( {4}"version": ")(.*)(",)$/m },
  { file: "docs/spec/sync/asyncapi.yaml", what: "info.version", find: /^( {2}version: )(.*)($)/m },
];

/** The manifests of the root and of its workspaces, and what the lock file says about them. */
function manifestPlaces(root: string): Place[] {
  return manifests(root).flatMap((folder) => {
    const file = join(folder, "package.json");
    const own: Place = { file, what: "version", find: /^( {2}"version": ")(.*)(",)$/m };
    const wanted = Object.entries(read(root, file)).flatMap(([key, value]) =>
      /ependencies$/.test(key) ? Object.keys(value as object).filter((name) => name.startsWith("@coffer/")) : [],
    );
    return [own, ...wanted.map((name) => ({ file, what: name, find: new RegExp(`("${name}": ")(.*)(")`) }))];
  });
}

function manifests(root: string): string[] {
  const { workspaces } = read(root, "package.json") as { workspaces: string[] }; // of our own manifest
  const found = workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }));
  return ["", ...found.map((path) => path.slice(0, -"/package.json".length)).sort()];
}

const read = (root: string, file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, file), "utf8")) as Record<string, unknown>; // of a manifest, which is an object

/** The places with another version than that of package.json. */
export function versionProblems(root: string): string[] {
  const version = mainVersion(root);
  const remedy = `run npm run release -- --set-version ${version}`;
  const problems = versionPlaces(root).flatMap(({ file, what, find }) => {
    const found = find.exec(readFileSync(join(root, file), "utf8"))?.[2];
    if (found === version) return [];
    return [`${file}: ${what} is ${found ?? "missing"}, package.json has ${version}: ${remedy}`];
  });
  const locked = lockedVersions(root).filter(({ value }) => value !== version);
  return [
    ...problems,
    ...locked.map(({ at, value }) => `package-lock.json: ${at} is ${value}, package.json has ${version}: ${remedy}`),
  ];
}

/** Writes the version to every place, and to npm's record of the installation: no script installs again. */
export function writeVersions(root: string, version: string): void {
  requireVersion(version);
  for (const { file, what, find } of versionPlaces(root)) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    if (!find.test(text)) throw new Error(`${file}: ${what} is missing: add it by hand`);
    writeFileSync(
      path,
      text.replace(find, (_all, before: string, _old, after: string) => before + version + after),
    );
  }
  for (const file of [lockFile, installedFile]) {
    if (!existsSync(join(root, file))) continue;
    const lock = read(root, file);
    for (const { holder, key } of placesOfLock(lock, manifests(root))) holder[key] = version;
    writeFileSync(join(root, file), `${JSON.stringify(lock, null, 2)}\n`);
  }
}

function lockedVersions(root: string): { at: string; value: string }[] {
  const places = placesOfLock(read(root, lockFile), manifests(root));
  return places.map(({ at, holder, key }) => ({ at, value: holder[key] ?? "missing" }));
}

interface LockPlace {
  at: string;
  holder: Record<string, string>;
  key: string;
}

/** The versions of workspaces in the lock file, and those that they want of each other. */
function placesOfLock(lock: Record<string, unknown>, folders: readonly string[]): LockPlace[] {
  const packages = lock["packages"] as Record<string, Record<string, unknown> | undefined>; // of version 3, which npm wrote
  const top: LockPlace = { at: "version", holder: lock as Record<string, string>, key: "version" };
  return [top, ...folders.flatMap((folder) => placesOfPackage(folder, packages[folder]))];
}

function placesOfPackage(folder: string, locked: Record<string, unknown> | undefined): LockPlace[] {
  const name = folder === "" ? "the root" : folder;
  if (locked === undefined) return [{ at: name, holder: {}, key: "version" }];
  const wanted = Object.keys(locked)
    .filter((key) => /ependencies$/.test(key))
    .map((key) => locked[key] as Record<string, string>); // npm writes names with ranges
  return [
    { at: name, holder: locked as Record<string, string>, key: "version" },
    ...wanted.flatMap((holder) =>
      Object.keys(holder)
        .filter((each) => each.startsWith("@coffer/"))
        .map((key) => ({ at: `${name}, ${key}`, holder, key })),
    ),
  ];
}
