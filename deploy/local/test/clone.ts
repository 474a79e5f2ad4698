import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { endServersIn, tiedToThisProcess } from "@coffer/stores";
import type { TestScope } from "@coffer/testkit";
import { checkout } from "../src/checkout.ts";
import { firstMinute } from "../src/first-minute.ts";
import { readRunFile, type RunState } from "../src/run-file.ts";
import { aboutInstallation } from "../src/data/installation.ts";
import { removePlaces } from "../src/data/stores-place.ts";
import { killGroup, until } from "./npm-start.ts";

const run = promisify(execFile);
const notCopied = new Set([".coffer", ".git", ".tap", "bench", "node_modules"]);

/**
 * A copy of the checkout below `parent`, in a folder with a blank and non-ASCII letters, which is removed
 * with the test. Installed packages are linked. `owner` gets the copied files.
 */
export function cloneIn(t: TestScope, parent: string, owner?: { uid: number; gid: number }): string {
  const clone = realpathSync(mkdtempSync(join(parent, "Coffer für Übung-")));
  const data = join(clone, ".coffer");
  t.teardown(async () => {
    await endServersIn(clone);
    await removePlaces(data, aboutInstallation(data)?.stores ?? null);
    rmSync(clone, { recursive: true, force: true, maxRetries: 5 });
  });
  const names = readdirSync(checkout).filter((name) => !notCopied.has(name) && !/^machine.*\.json$/.test(name));
  for (const name of names)
    cpSync(join(checkout, name), join(clone, name), { recursive: true, verbatimSymlinks: true });
  if (owner !== undefined) execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, clone]);
  mkdirSync(join(clone, "node_modules"));
  for (const flags of ["-al", "-a"]) {
    try {
      execFileSync("cp", [flags, `${join(checkout, "node_modules")}/.`, join(clone, "node_modules")], {
        stdio: "ignore",
      });
      break;
    } catch {
      // Another file system: the next try copies.
    }
  }
  takeTestRunner(clone, owner);
  return clone;
}

/**
 * Copies the built test runner and corrects its absolute links. A build in the clone would write into
 * files that it shares with the checkout.
 */
function takeTestRunner(clone: string, owner?: { uid: number; gid: number }): void {
  const from = join(checkout, ".tap/plugins");
  if (!existsSync(from)) return;
  const to = join(clone, ".tap/plugins");
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  const scope = join(to, "node_modules/@tapjs");
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    rmSync(join(scope, name), { recursive: true });
    symlinkSync(join(clone, "node_modules/@tapjs", name), join(scope, name));
  }
  if (owner !== undefined) execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, join(clone, ".tap")]);
}

/** Runs `npm test` on some files in a clone. Returns its last line; throws its output if it fails. */
export async function testClone(
  clone: string,
  files: readonly string[],
  prefix: readonly string[] = [],
): Promise<string> {
  const command = ["NODE_OPTIONS=", ...prefix, "npm", "test", "--silent", "--", ...files];
  // A separate folder for its tests, which only this user may enter.
  const { COFFER_TEST_DIRECTORY: _ofTheSuite, ...env } = bareEnvironment();
  const options = { cwd: clone, env: { ...env, npm_config_cache: join(clone, ".coffer-npm") }, timeout: 300_000 };
  const { stdout } = await run("env", command, options).catch((error: unknown) => {
    throw new Error((error as { stdout?: string }).stdout ?? String(error));
  });
  return stdout.trimEnd().split("\n").at(-1) ?? "";
}

export interface ClonedRun {
  state: RunState;
  stdout: string;
  stderr: () => string;
  /** Stops it like Ctrl-C. Returns the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Removes the variables of the test runner: its hooks write where only this user may.
 */
const withoutHooks = ["env", "NODE_OPTIONS="] as const;

/** The environment of another user's shell: no settings of Coffer, no folder of a person. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const inherited = ["PATH", "LANG", "COFFER_TEST_DIRECTORY"].filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(inherited.map((name) => [name, process.env[name]]));
}

/** Runs `npm start` in a clone; `prefix` is a command that runs another one as another user. */
export async function startClone(
  t: TestScope,
  clone: string,
  {
    prefix = [],
    args = [],
    env = {},
  }: { prefix?: readonly string[]; args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<ClonedRun> {
  const command = tiedToThisProcess([...withoutHooks, ...prefix, "npm", "start", "--silent", "--", ...args], "SIGTERM");
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, {
    cwd: clone,
    env: { ...bareEnvironment(), COFFER_PORT: "0", npm_config_cache: join(clone, ".coffer-npm"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const pid = child.pid ?? 0;
  const exited = once(child, "close").then(() => child.exitCode);
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.err += chunk.toString()));
  t.teardown(async () => {
    killGroup(pid);
    await exited;
  });
  const data = join(clone, ".coffer");
  await until(() => {
    if (child.exitCode !== null) throw new Error(`ended before it was ready: ${text.err}`);
    return text.out.includes("\n") && readRunFile(data) !== null;
  });
  const state = readRunFile(data);
  if (state === null) throw new Error("no coffer.json");
  return {
    state,
    stdout: text.out,
    stderr: () => text.err,
    stop: () => {
      process.kill(-pid, "SIGINT");
      return exited;
    },
  };
}

/** Runs the lines of the first minute in a clone, one by one. Returns the output of the last one. */
export async function runFirstMinute(clone: string, prefix: readonly string[] = []): Promise<string> {
  const env: NodeJS.ProcessEnv = {
    ...bareEnvironment(),
    COFFER_PASSWORD: "correct horse battery staple",
    XDG_CONFIG_HOME: join(clone, ".coffer-profile"),
    npm_config_cache: join(clone, ".coffer-npm"),
  };
  let last = "";
  for (const printed of firstMinute) {
    // In a pipe the value is masked.
    const line = printed.replace("coffer run ", "coffer run --no-mask ");
    const { stdout, stderr } = await run("env", ["NODE_OPTIONS=", ...prefix, "bash", "-c", line], {
      cwd: clone,
      env,
      timeout: 120_000,
    });
    const [token] = /cft1_[\w-]{43}/.exec(`${stdout}${stderr}`) ?? [];
    if (token !== undefined) env["COFFER_TOKEN"] = token;
    last = stdout;
  }
  return last;
}
