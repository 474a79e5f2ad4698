import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";

const patienceMilliseconds = 50;
const stepMilliseconds = 5;

/**
 * Writes log lines to an open file or pipe, each before `write` returns. A line that cannot be written
 * (a full disk, a closed reader, or one that reads nothing for 50 ms) is dropped and reported to
 * `lost`: logging never ends or stops the process.
 */
export function createLogWriter(descriptor: number, lost: () => void): DestinationStream {
  // The last line was cut: begins on a new line.
  let cut = false;
  let failing = false;

  function writeAll(bytes: Buffer): void {
    const deadline = failing ? 0 : performance.now() + patienceMilliseconds;
    for (let at = 0; at < bytes.length;) {
      try {
        at += writeSync(descriptor, bytes, at);
        cut = at < bytes.length;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > deadline) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stepMilliseconds);
      }
    }
  }

  return {
    write: (line) => {
      try {
        writeAll(Buffer.from(cut ? `\n${line}` : line));
        failing = false;
      } catch {
        failing = true;
        lost();
      }
    },
  };
}
