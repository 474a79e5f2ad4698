// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** A stretch of base64 or hexadecimal characters, which may go over several lines. */
export interface Run {
  /** The characters without the line breaks. */
  text: string;
  /** The offset in the source of the character at `index`. */
  offsetOf: (index: number) => number;
}

/** Shorter encodings hold no credential. */
export const leastRun = 20;
const mostLines = 100_000;

/** 1 for a character that base64 or hexadecimal digits may have. */
const inRun = new Uint8Array(256);
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") inRun[sign.charCodeAt(0)] = 1;

/**
 * The runs at these ascending offsets for which `isWorth` holds, lines of one encoding joined. Each
 * run is returned once.
 */
export function runsAt(
  bytes: Buffer,
  offsets: readonly number[],
  isWorth: (bytes: Buffer, start: number, end: number) => boolean,
): Run[] {
  const runs: Run[] = [];
  let done = 0;
  for (const offset of offsets) {
    if (offset < done) continue;
    let start = offset;
    while (start > 0 && inRun[bytes[start - 1] as number] === 1) start -= 1;
    let end = offset;
    while (end < bytes.length && inRun[bytes[end] as number] === 1) end += 1;
    done = end;
    if (!isWorth(bytes, start, end)) continue;
    const { run, next } = joined(bytes, start, end);
    runs.push(run);
    done = next;
  }
  return runs;
}

interface Line {
  start: number;
  end: number;
}

/** The run with the lines that continue it: each is its own run from its indentation to its end. */
function joined(bytes: Buffer, start: number, end: number): { run: Run; next: number } {
  const lines: Line[] = [{ start, end }];
  let next = end;
  while (lines.length < mostLines) {
    const line = continuation(bytes, next);
    if (line === null) break;
    lines.push(line);
    next = line.end;
  }
  if (lines.length === 1)
    return { run: { text: bytes.toString("latin1", start, end), offsetOf: (index) => start + index }, next };
  const text = lines.map((line) => bytes.toString("latin1", line.start, line.end)).join("");
  return { run: { text, offsetOf: offsetsIn(lines) }, next };
}

/** Finds the offset in the source of a character of the joined lines. */
function offsetsIn(lines: readonly Line[]): (index: number) => number {
  /** For each line the index of its first character. */
  const firsts: number[] = [];
  let length = 0;
  for (const { start, end } of lines) {
    firsts.push(length);
    length += end - start;
  }
  return (index) => {
    let low = 0;
    let high = lines.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((firsts[middle] as number) <= index) low = middle;
      else high = middle;
    }
    const { start, end } = lines[low] as Line;
    return Math.min(end, start + index - (firsts[low] as number));
  };
}

/**
 * The next line of a wrapped encoding: behind a line break or a `\n` escape, with quotes and
 * operators between.
 */
function continuation(bytes: Buffer, end: number): Line | null {
  const between = /^["'`]?[ \t]{0,8}[+.,\\]?[ \t]{0,8}(?:\r?\n|\\r?\\?n|\\n)[ \t]{0,64}["'`]?/.exec(
    bytes.toString("latin1", end, Math.min(bytes.length, end + 160)),
  );
  if (between === null) return null;
  const start = end + between[0].length;
  let at = start;
  while (at < bytes.length && inRun[bytes[at] as number] === 1) at += 1;
  if (at === start) return null;
  const after = bytes[at];
  const ends =
    after === undefined || after === 0x0a || after === 0x0d || [0x22, 0x27, 0x60, 0x5c, 0x3c, 0x3d].includes(after);
  return ends ? { start, end: at } : null;
}
