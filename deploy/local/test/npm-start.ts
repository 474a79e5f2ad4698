import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { requireAsDescribed, watchedEnvironment } from "@coffer/openapi";
import { endServersIn, isAlive, tiedToThisProcess } from "@coffer/stores";
import { makeTestDirectory, removeTestDirectory, type TestScope } from "@coffer/testkit";
import { checkout } from "../src/checkout.ts";
import { readRunFile, type RunState } from "../src/run-file.ts";

export interface Started {
  /** The process of npm, which leads the group of npm, the launcher and the server. */
  pid: number;
  stdout(): string;
  stderr(): string;
  /** The exit code. */
  exited: Promise<number | null>;
  /** Resolves with the ready line. Throws the output if the program ends before. */
  ready: Promise<RunState>;
  state(): RunState;
}

export interface StartOptions {
  directory: string;
  args?: readonly string[];
  env?: Record<string, string>;
}

/** Started by npmStart and not yet ended by a teardown: a test that bails out runs none. */
const started = new Set<number>();
process.once("exit", () => started.forEach(killGroup));

/**
 * Runs `npm start` on a data directory and a free port. Kills the rest when the test ends; if the test
 * itself is killed, the kernel ends npm, which ends the rest. The test fails if an exchange contradicts the
 * description of the interface.
 */
export function npmStart(t: TestScope, { directory, args = [], env = {} }: StartOptions): Started {
  const notes = makeTestDirectory();
  const problems = join(notes, "problems");
  const inherited = Object.entries(process.env).filter(([name]) => !/^(COFFER_(?!TEST_)|OTEL_)/.test(name));
  const command = tiedToThisProcess(["npm", "start", "--silent", "--", ...args], "SIGTERM");
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, {
    cwd: checkout,
    env: {
      ...Object.fromEntries(inherited),
      // The person who runs the tests may be logged in somewhere.
      XDG_CONFIG_HOME: directory,
      COFFER_DATA_DIR: directory,
      COFFER_PORT: "0",
      ...watchedEnvironment(problems),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("npm cannot be run");
  started.add(pid);
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.err += chunk.toString()));
  const exited = once(child, "close").then(() => child.exitCode);
  const state = (): RunState => {
    const found = readRunFile(directory);
    if (found === null) throw new Error(`no coffer.json: ${text.err}`);
    return found;
  };
  const ready = until(() => {
    if (child.exitCode !== null) throw new Error(`ended before it was ready: ${text.err}`);
    return text.out.includes("\n") && readRunFile(directory) !== null;
  }).then(state);
  // The caller may not wait for it.
  ready.catch(() => undefined);
  t.teardown(async () => {
    // A process that has ended was refused, and the file belongs to the one that runs on this data.
    const own = child.exitCode === null ? readRunFile(directory) : null;
    const services = Object.values(own?.services ?? {}).map((service) => service.pid);
    killGroup(pid);
    await exited;
    started.delete(pid);
    try {
      // They have their own process groups, and end when they notice; on a busy machine that takes a while.
      await until(() => living(services).length === 0);
      requireAsDescribed(problems);
    } finally {
      await endServersIn(directory);
      removeTestDirectory(notes);
    }
  });
  return { pid, stdout: () => text.out, stderr: () => text.err, exited, ready, state };
}

/** Kills npm, the launcher and the server. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** All processes of a running Coffer that its file names. */
export function processesOf(state: RunState): number[] {
  return [state.pid, ...Object.values(state.store_pids), ...Object.values(state.services).map(({ pid }) => pid)];
}

/** Those that are still there. */
export function living(pids: readonly number[]): number[] {
  return pids.filter(isAlive);
}

/** Waits until a condition is true, at most a minute. Throws after that. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not so after a minute: ${holds.toString()}`);
    await pause(20);
  }
}
