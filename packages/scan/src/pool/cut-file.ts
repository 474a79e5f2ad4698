import { open } from "node:fs/promises";
import { isPlainText } from "../scan-bytes.ts";
import type { Job, JobResult } from "./job.ts";

const pieceSize = 4 * 1024 * 1024;
const headSize = 64 * 1024;

/**
 * The jobs of a file: itself, or pieces of 4 MiB when it is larger and plain text. Throws when it
 * cannot be read.
 */
export async function jobsOfFile(job: Job, file: string, size: number): Promise<Job[]> {
  if (size <= pieceSize * 2 || !(await isPlainFile(file))) return [job];
  return Array.from({ length: Math.ceil(size / pieceSize) }, (_, index): Job => {
    const start = index * pieceSize;
    return { ...job, source: { from: "piece", file, start, end: Math.min(size, start + pieceSize), size } };
  });
}

async function isPlainFile(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headSize), 0, headSize, 0);
    const head = buffer.subarray(0, bytesRead);
    return isPlainText(head) && !(head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf);
  } finally {
    await handle.close();
  }
}

/** The result of a whole file from those of its pieces, in their order. */
export function joinPieces(results: readonly JobResult[]): JobResult {
  const whole: JobResult = { occurrences: [], problems: [], binary: [], bytes: 0 };
  let lines = 0;
  let columns = 0;
  for (const result of results) {
    for (const occurrence of result.occurrences) {
      const { location } = occurrence;
      whole.occurrences.push({
        ...occurrence,
        location: {
          ...location,
          start_line: location.start_line + lines,
          start_column: location.start_column + (location.start_line === 1 ? columns : 0),
          end_line: location.end_line + lines,
          end_column: location.end_column + (location.end_line === 1 ? columns : 0),
        },
      });
    }
    for (const problem of result.problems) whole.problems.push(problem);
    whole.bytes += result.bytes;
    if (result.lines === undefined) continue;
    columns = result.lines.breaks === 0 ? columns + result.lines.columns : result.lines.columns;
    lines += result.lines.breaks;
  }
  return whole;
}
