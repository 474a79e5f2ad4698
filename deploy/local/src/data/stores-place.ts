import { hash, randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { endServersIn, isReachable, letServerEnter, serverUser } from "@coffer/stores";
import { aboutInstallation } from "./installation.ts";
import { StartupError } from "../startup-error.ts";

/** The parent folder of places; only root can write there. */
const allPlaces = "/var/lib";

/** The file in a place that names its data directory. */
const ownerFile = "data-directory";

/**
 * The folder of a new installation's store files: null for the data directory, or a folder below /var/lib
 * if this process is root and the stores' user cannot reach the data directory.
 */
export function choosePlace(dataDirectory: string, base = allPlaces): string | null {
  if (serverUser() === null) return null;
  const found = statSync(dataDirectory, { throwIfNoEntry: false });
  // A data directory of root is opened to the stores' user later; one of another user is not changed.
  const ours = found === undefined || found.uid === 0;
  if (isReachable(ours ? dirname(dataDirectory) : dataDirectory)) return null;
  return join(folderOf(dataDirectory, base), randomBytes(4).toString("hex"));
}

/**
 * Makes and returns the folder of the stores' files. Only root can change it; the stores' user may enter
 * it, and no other user. Throws StartupError if another user could have made or could replace it, or if
 * it belongs to another data directory; StoreError if the stores' user cannot reach it.
 */
export function openPlace(dataDirectory: string, place: string | null, base = allPlaces): string {
  if (place === null) {
    if (serverUser() !== null && statSync(dataDirectory).uid === 0) letServerEnter(dataDirectory);
    return dataDirectory;
  }
  requireRoots(realpathSync(base));
  for (const folder of [dirname(place), place]) {
    mkdirIfMissing(folder);
    requireRoots(folder);
    letServerEnter(folder);
  }
  claim(dataDirectory, place);
  return place;
}

/** Removes the place of a data directory, and those of earlier installations at the same path. */
export async function removePlaces(dataDirectory: string, place: string | null, base = allPlaces): Promise<void> {
  if (serverUser() === null || !existsSync(dataDirectory)) return;
  const folders = new Set([folderOf(dataDirectory, base)]);
  if (place !== null && dirname(dirname(place)) === base && ownerOf(place) === realpathSync(dataDirectory))
    folders.add(place);
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    requireRoots(realpathSync(base));
    requireRoots(folder);
    await endServersIn(folder);
    removeTree(folder);
  }
  if (place === null) return;
  try {
    rmdirSync(dirname(place));
  } catch {
    // Removed already, or it has another installation.
  }
}

/** The places of data directories below a folder. */
export function placesBelow(folder: string, base = allPlaces): string[] {
  return readdirSync(base)
    .filter((name) => /^coffer-[0-9a-f]{16}$/.test(name))
    .flatMap((name) => readdirSync(join(base, name)).map((id) => join(base, name, id)))
    .filter((place) => ownerOf(place)?.startsWith(`${folder}/`) === true);
}

/** Removes a folder with its content, also safely as root: a store's user cannot redirect `rm` by a link. */
export function removeTree(path: string): void {
  const { status, stderr } = spawnSync("rm", ["-rf", "--", path], { encoding: "utf8" });
  if (status !== 0) throw new StartupError(`cannot remove ${path}: ${stderr.trim()}`);
}

function folderOf(dataDirectory: string, base: string): string {
  const real = existsSync(dataDirectory) ? realpathSync(dataDirectory) : dataDirectory;
  return join(base, `coffer-${hash("sha256", real).slice(0, 16)}`);
}

function mkdirIfMissing(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Refuses what another user could have made, or could replace. */
function requireRoots(folder: string): void {
  const found = lstatSync(folder);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return;
  throw new StartupError(
    `${folder} must be a folder of root's that no other user can change, for the files of the stores: remove it, ` +
      "or set COFFER_DATA_DIR to a folder that other users may enter",
  );
}

/** Records the data directory in its place. A copy of a data directory does not get the original's place. */
function claim(dataDirectory: string, place: string): void {
  const real = realpathSync(dataDirectory);
  const owner = ownerOf(place);
  if (owner === real) return;
  if (owner !== null && aboutInstallation(owner)?.stores === place) {
    throw new StartupError(
      `${real} is a copy of ${owner}, whose stores have their files in ${place}: empty the copy with ` +
        "npm start -- --reset, or set COFFER_DATA_DIR",
    );
  }
  const file = join(place, ownerFile);
  writeFileSync(`${file}.new`, real, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

function ownerOf(place: string): string | null {
  try {
    return readFileSync(join(place, ownerFile), "utf8");
  } catch {
    return null;
  }
}
