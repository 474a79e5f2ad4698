import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { testDirectory, type TestScope } from "@coffer/testkit";
import { checkout } from "../../src/checkout.ts";

const file = "deploy/release/previous-version";

/**
 * The commit of the previous version: the newest release tag, or, before the first release, the commit in
 * deploy/release/previous-version. Null where git does not have it, as in a shallow clone.
 */
export function previousVersion(): string | null {
  const tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^");
  const name = tag ?? readFileSync(join(checkout, file), "utf8").trim();
  return git("rev-parse", "--verify", "--quiet", `${name}^{commit}`);
}

function git(...args: string[]): string | null {
  const { status, stdout } = spawnSync("git", args, { cwd: checkout, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

/** A checkout of a commit, with the packages of others as they are installed here. */
export function checkOut(t: TestScope, commit: string): string {
  const folder = testDirectory(t);
  const archive = execFileSync("git", ["archive", "--format=tar", commit], { cwd: checkout, maxBuffer: 1 << 28 });
  execFileSync("tar", ["-xf", "-", "-C", folder], { input: archive });
  linkModules(folder);
  return folder;
}

/** Its own packages are those of the commit. */
function linkModules(folder: string): void {
  const installed = join(checkout, "node_modules");
  const modules = join(folder, "node_modules");
  const link = (target: string, name: string): void => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(target, join(modules, name));
  };
  for (const name of readdirSync(installed)) {
    if (name === "@coffer" || name.startsWith(".")) continue;
    if (!name.startsWith("@")) link(join(installed, name), name);
    else for (const inner of readdirSync(join(installed, name))) link(join(installed, name, inner), join(name, inner));
  }
  const { workspaces } = manifestOf(folder) as { workspaces: string[] }; // of our own manifest
  for (const path of workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: folder }))) {
    const own = dirname(join(folder, path));
    const { name } = manifestOf(own) as { name: string }; // each workspace has one
    link(relative(dirname(join(modules, name)), own), name);
  }
}

function manifestOf(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
