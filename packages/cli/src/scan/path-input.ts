import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Job, Problem } from "@coffer/scan";
import { usage } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { findRepository, git, gitTexts, tryGit } from "./git.ts";
import type { Input } from "./input.ts";

export interface PathSettings {
  /**
   * Where findings' paths start: the root of the working directory's repository, else the working
   * directory.
   */
  base: string;
  gitIgnore: boolean;
  mostBytes: number;
  isExcluded: (path: string) => boolean;
}

interface Listing extends PathSettings {
  jobs: { job: Job; size: number }[];
  problems: Problem[];
  /** Absolute paths that are listed already. */
  seen: Set<string>;
}

const smallBytes = 4 * 1024 * 1024;
const smallCount = 400;

/**
 * Files below paths; in a repository also what the index holds and the work tree does not. Throws
 * Failure (usage) for a path that does not exist.
 */
export async function pathInput(
  paths: readonly string[],
  settings: PathSettings,
): Promise<Input & { sizes: number[] }> {
  const listing: Listing = { ...settings, jobs: [], problems: [], seen: new Set() };
  for (const path of paths.length === 0 ? ["."] : paths) {
    const file = resolve(path);
    const stats = statOf(file, path);
    if (!stats.isDirectory()) addFile(listing, file, basename(file), stats);
    else await addFolder(listing, file, file);
  }
  const { jobs, problems } = listing;
  const bytes = jobs.reduce((sum, { size }) => sum + size, 0);
  return {
    jobs: jobs.map(({ job }) => job),
    sizes: jobs.map(({ size }) => size),
    small: bytes <= smallBytes && jobs.length <= smallCount,
    problems,
    whole: paths.length === 0,
  };
}

/** A path as findings name it. */
export function shownPath(base: string, file: string): string {
  const path = relative(base, file);
  const inside = path !== "" && !path.startsWith(`..${sep}`) && path !== ".." && !isAbsolute(path);
  return (inside ? path : file).split(sep).join("/");
}

function statOf(file: string, path: string): Stats {
  try {
    return statSync(file);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw usage(`${path} does not exist`);
    throw usage(`${path} cannot be read: ${code ?? ""}`);
  }
}

async function addFolder(listing: Listing, folder: string, top: string): Promise<void> {
  const repository = await findRepository(folder);
  if (repository === null) {
    walk(listing, folder, top);
    return;
  }
  if (!listing.gitIgnore) walk(listing, folder, top);
  else {
    const ignored = await tryGit(folder, ["check-ignore", "-q", "."]);
    if (folder !== repository.root && "output" in ignored) {
      listing.problems.push({
        path: shownPath(listing.base, folder),
        message: "is ignored by git: --no-git-ignore scans it",
      });
      return;
    }
    await addListed(listing, folder, top, ["--others", "--exclude-standard"]);
    await addListed(listing, folder, top, ["--cached"]);
  }
  await addIndex(listing, folder, top);
}

/** Files that git lists; folders among them are repositories of their own. */
async function addListed(listing: Listing, folder: string, top: string, which: readonly string[]): Promise<void> {
  for await (const path of gitTexts(folder, ["ls-files", "-z", ...which])) {
    const file = join(folder, path);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) await addFolder(listing, file, top);
    else if (stats?.isFile() === true) addFile(listing, file, relative(top, file), stats);
  }
}

/** Blobs of the index whose file in the work tree is another one, or is gone. */
async function addIndex(listing: Listing, folder: string, top: string): Promise<void> {
  const changed = (await git(folder, ["diff-files", "-z", "--name-only", "--relative"])).toString("utf8").split("\0");
  const names = new Set(changed.filter((name) => name !== ""));
  if (names.size === 0) return;
  for await (const entry of gitTexts(folder, ["ls-files", "-z", "--stage"])) {
    const [, mode = "", oid = "", path = ""] = /^(\d+) ([0-9a-f]+) \d\t([^]*)$/.exec(entry) ?? [];
    if (!names.has(path) || !mode.startsWith("100")) continue;
    const file = join(folder, path);
    const shown = shownPath(listing.base, file);
    if (listing.isExcluded(shown)) continue;
    listing.jobs.push({
      job: { source: { from: "blob", directory: folder, oid }, path: shown, pathBelow: relative(top, file) },
      size: 0,
    });
  }
}

function walk(listing: Listing, folder: string, top: string): void {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = errorCode(error);
    listing.problems.push({ path: shownPath(listing.base, folder), message: `cannot be read: ${code ?? "unknown"}` });
    return;
  }
  for (const entry of entries) {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== ".git") walk(listing, file, top);
    } else if (entry.isFile()) addFile(listing, file, relative(top, file), lstatSync(file));
  }
}

function addFile(listing: Listing, file: string, pathBelow: string, stats: Stats): void {
  const path = shownPath(listing.base, file);
  if (listing.seen.has(file) || listing.isExcluded(path)) return;
  listing.seen.add(file);
  if (listing.mostBytes > 0 && stats.size > listing.mostBytes) {
    const most = Math.round(listing.mostBytes / 1024 / 1024);
    listing.problems.push({ path, message: `is larger than ${most} MiB: --max-file-mb raises the limit` });
    return;
  }
  listing.jobs.push({ job: { source: { from: "file", file }, path, pathBelow }, size: stats.size });
}
