import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtInRules } from "@coffer/scan";
import { seededRandom } from "../../../scan/src/examples/random.ts";
import { coffer, type Outcome, type Start } from "../command.ts";

/** A token of this seed, which no vendor has ever issued. */
export function tokenOf(seed: number, id = "github-personal-token"): string {
  const [text] = builtInRules.find((rule) => rule.id === id)?.examples.positive(seededRandom(seed)) ?? [];
  if (text === undefined) throw new Error(`${id} has no example`);
  return text;
}

const identity = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

/** A real repository below a folder. */
export interface TestRepository {
  root: string;
  git: (...args: string[]) => string;
  write: (path: string, content: string | Buffer) => void;
  /** Writes files and commits them. Returns the commit's id. */
  commit: (message: string, files: Record<string, string | Buffer>) => string;
  scan: (args: string[], options?: Start) => Promise<Outcome>;
}

export function newRepository(root: string): TestRepository {
  mkdirSync(root, { recursive: true });
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: root,
      env: { ...process.env, ...identity },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  git("init", "-q", "-b", "main");
  return {
    root,
    git,
    write,
    commit: (message, files) => {
      for (const [path, content] of Object.entries(files)) write(path, content);
      git("add", "-A");
      git("commit", "-q", "--no-verify", "--allow-empty", "-m", message);
      return git("rev-parse", "HEAD");
    },
    scan: (args, options = {}) => coffer(root, ["scan", ...args], { ...options, env: { ...identity, ...options.env } }),
  };
}

/** Findings of a report in JSON, each as `path:line:column commit`. */
export function placesIn({ stdout }: Outcome): string[] {
  const { findings } = JSON.parse(stdout) as {
    findings: { locations: { path: string; start_line: number; start_column: number; commit?: string }[] }[];
  };
  return findings
    .flatMap(({ locations }) => locations)
    .map(({ path, start_line, start_column, commit }) =>
      [`${path}:${start_line}:${start_column}`, ...(commit === undefined ? [] : [commit])].join(" "),
    )
    .sort();
}
