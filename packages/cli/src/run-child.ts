import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { exitCodeOf, passSignals } from "../bin/pass-signals.mjs";
import { maskingStream } from "./mask.ts";
import { tell } from "./output.ts";

const notFound = 127;
const notExecutable = 126;

/** In which of a command's streams values are replaced. */
export interface MaskedStreams {
  stdout: boolean;
  stderr: boolean;
}

export interface Masking {
  texts: readonly string[];
  mask: MaskedStreams;
}

/**
 * Runs an argument vector as it is, without a shell, with our stdin and with our signals passed on. A stream in which nothing
 * is masked is our own; the others pass through us with the texts replaced. `began` is given the child as soon as there is one.
 * Returns its exit code; 128 and the signal's number when a signal ended it, 127 when there is no such command and 126 when it
 * cannot be executed.
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
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    await copied;
    return exitCodeOf(code, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    tell(`coffer: ${command} ${code === "ENOENT" ? "was not found" : `cannot be run: ${code}`}`);
    return code === "ENOENT" ? notFound : notExecutable;
  } finally {
    stopPassing();
  }
}

async function copy(
  from: NodeJS.ReadableStream | null,
  to: NodeJS.WritableStream,
  masked: readonly string[],
): Promise<void> {
  if (from !== null) await pipeline(from, maskingStream(masked), to, { end: false });
}
