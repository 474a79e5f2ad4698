import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { exitCodeOf, passSignals } from "../../bin/pass-signals.mjs";
import { errorCode } from "../files/error-code.ts";
import { printNotice } from "../output/output.ts";
import { maskingStream } from "./mask.ts";

const notFound = 127;
const notExecutable = 126;

/** The streams of a command in which values are replaced. */
export interface MaskedStreams {
  stdout: boolean;
  stderr: boolean;
}

export interface Masking {
  texts: readonly string[];
  mask: MaskedStreams;
}

/**
 * Runs an argument vector without a shell, with our stdin, and forwards our signals. An unmasked
 * stream is inherited; a masked one is filtered. `began` receives the child as soon as it exists.
 * Returns its exit code: 128 plus the number of a signal that ended it, 127 when there is no such
 * command, 126 when it cannot be executed.
 */
export async function runChild(
  [command = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  { texts, mask }: Masking,
  began: (child: ChildProcess) => void = () => undefined,
): Promise<number> {
  const output = (masked: boolean) => (masked && texts.length > 0 ? "pipe" : "inherit");
  const stopPassing = passSignals(() => child);
  const child: ChildProcess = spawn(command, args, {
    env,
    stdio: ["inherit", output(mask.stdout), output(mask.stderr)],
  });
  began(child);
  try {
    const copied = Promise.allSettled([
      copy(child.stdout, process.stdout, texts),
      copy(child.stderr, process.stderr, texts),
    ]);
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]; // as Node documents the event
    await copied;
    return exitCodeOf(code, signal);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isMissing = code === "ENOENT" || (code === "EACCES" && isNowhere(command, env));
    printNotice(`coffer: ${command} ${isMissing ? "was not found" : `cannot be run: ${code}`}`);
    return isMissing ? notFound : notExecutable;
  } finally {
    stopPassing();
  }
}

/**
 * Whether no folder of PATH has a command of that name. The system says EACCES when one of them may
 * not be searched.
 */
function isNowhere(command: string, env: NodeJS.ProcessEnv): boolean {
  const folders = (env["PATH"] ?? "").split(delimiter);
  return !command.includes("/") && !folders.some((folder) => existsSync(join(folder, command)));
}

async function copy(
  from: NodeJS.ReadableStream | null,
  to: NodeJS.WritableStream,
  masked: readonly string[],
): Promise<void> {
  if (from !== null) await pipeline(from, maskingStream(masked), to, { end: false });
}
