import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** The command as people start it. */
export const command = fileURLToPath(new URL("../bin/coffer.mjs", import.meta.url));

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Start {
  /** Besides PATH and a separate profile folder. */
  env?: Record<string, string>;
  /** What stdin holds; empty without it. */
  input?: string;
  /** Flags of Node itself. */
  node?: string[];
}

/**
 * Starts the command with a clean environment, in the folder `home`, which holds its profile: it
 * sees no file of the checkout. `env` takes away what the test runner adds to that of each process:
 * its hooks would hear the signals, and be loaded each time.
 */
export function start(home: string, args: string[], { env = {}, node = [] }: Start = {}): ChildProcess {
  const options = `NODE_OPTIONS=${env["NODE_OPTIONS"] ?? ""}`;
  const program = node.length === 0 ? [command] : [process.execPath, ...node, command];
  return spawn("env", [options, ...program, ...args], {
    cwd: home,
    env: { ...inherited(), HOME: home, XDG_CONFIG_HOME: home, COFFER_DATA_DIR: home, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Of our own environment, where programs are and by what the suite knows the processes of its tests. */
export function inherited(): Record<string, string> {
  const names = ["PATH", "COFFER_TEST_DIRECTORY"];
  const found = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => names.includes(entry[0])),
  );
  // The command starts itself with the Node that it finds.
  return { ...found, PATH: [dirname(process.execPath), found["PATH"]].join(delimiter) };
}

/** Lets a signal come to the command while it writes a file. */
export function stoppedWhileWriting(signal: NodeJS.Signals, path: string): Required<Pick<Start, "env" | "node">> {
  const program = fileURLToPath(new URL("./stopped-while-writing.ts", import.meta.url));
  return { env: { STOPPED_BY: signal, STOPPED_AT: path }, node: ["--import", program] };
}

/** Waits for the end of a started command. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const output = Promise.all([text(child.stdout as Readable), text(child.stderr as Readable)]);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const [stdout, stderr] = await output;
  return { code, signal, stdout, stderr };
}

/** Runs the command to its end. */
export async function coffer(home: string, args: string[], options: Start = {}): Promise<Outcome> {
  const child = start(home, args, options);
  child.stdin?.end(options.input ?? "");
  return outcomeOf(child);
}
