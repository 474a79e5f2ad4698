import { isAscii, isUtf8 } from "node:buffer";

/** A place in a text: line and column count from 1, columns in UTF-16 code units. */
export interface Position {
  line: number;
  column: number;
}

/**
 * Reads off positions in a text, each at or behind the one before, in time linear in the text. A
 * text that is not UTF-8 is taken for latin1.
 */
export function positionReader(bytes: Buffer, start: Position = { line: 1, column: 1 }): (offset: number) => Position {
  const utf8 = isUtf8(bytes);
  let at = 0;
  let { line, column } = start;
  // Looked up once for each line: a line of megabytes may have thousands of positions.
  let lineEnd = endOfLine(bytes, 0);
  return (offset) => {
    const to = Math.min(offset, bytes.length);
    while (lineEnd < to) {
      line += 1;
      column = 1;
      at = lineEnd + 1;
      lineEnd = endOfLine(bytes, at);
    }
    column += utf8 ? unitsOf(bytes.subarray(at, to)) : Math.max(0, to - at);
    at = Math.max(at, to);
    return { line, column };
  };
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(0x0a, from);
  return end < 0 ? Infinity : end;
}

/** The UTF-16 code units of a stretch of UTF-8, which may begin or end inside a character. */
function unitsOf(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let units = 0;
  for (const byte of bytes) units += (byte & 0xc0) === 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  return units;
}
