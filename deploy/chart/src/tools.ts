import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tools } from "./paths.ts";

export interface InstallOptions {
  /** With the packages that are only needed without other programs. */
  optional?: boolean;
  report?: (line: string) => void;
}

interface Lock {
  packages: Record<string, { version?: string; optional?: boolean }>;
}

/** Installs the tools of their own lock file, unless they exist. Throws if npm fails. */
export function installTools({ optional = false, report = () => undefined }: InstallOptions = {}): void {
  if (isInstalled(optional)) return;
  report("installing what checks the chart (npm ci in deploy/chart/tools)");
  const wish = optional ? "--include=optional" : "--omit=optional";
  const { status, stderr } = spawnSync("npm", ["ci", wish, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: tools,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm ci in ${tools} failed: ${stderr}`);
}

function isInstalled(optional: boolean): boolean {
  const installedFile = join(tools, "node_modules/.package-lock.json");
  if (!existsSync(installedFile)) return false;
  const installed = read(installedFile).packages;
  return Object.entries(read(join(tools, "package-lock.json")).packages).every(
    ([path, wanted]) =>
      path === "" || installed[path]?.version === wanted.version || (wanted.optional === true && !optional),
  );
}

function read(path: string): Lock {
  return JSON.parse(readFileSync(path, "utf8")) as Lock; // npm's own file
}
