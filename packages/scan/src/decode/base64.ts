import type { Decoded } from "./decoded.ts";
import { leastRun } from "./runs.ts";
import type { Run } from "./runs.ts";
import { hexDigit } from "./escapes.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** The six bits of a character of base64, also of its url-safe alphabet; -1 for every other byte. */
export function base64Value(byte: number): number {
  if (byte >= 0x41 && byte <= 0x5a) return byte - 0x41;
  if (byte >= 0x61 && byte <= 0x7a) return byte - 0x47;
  if (byte >= 0x30 && byte <= 0x39) return byte + 4;
  if (byte === 0x2b || byte === 0x2d) return 62;
  return byte === 0x2f || byte === 0x5f ? 63 : -1;
}

const values = Int8Array.from({ length: 256 }, (_, byte) => base64Value(byte));

/** Printable ASCII, white space, and NUL, of which UTF-16 is full. */
const readable = new Uint8Array(256);
for (let byte = 0x20; byte < 0x7f; byte += 1) readable[byte] = 1;
for (const byte of [0x00, 0x09, 0x0a, 0x0d]) readable[byte] = 1;

/** How many readable groups of four characters in a row are taken for an encoded text. */
export const leastGroups = 5;
/** How a gzip file in base64 begins. */
export const gzipInBase64 = "H4sI";
const leastBytes = 15;
const leastDigits = 2 * leastBytes;

/**
 * Whether a run may encode a text: five readable groups of base64 in a row, 15 bytes in
 * hexadecimal, or a gzip file.
 */
export function mayEncode(bytes: Buffer, start: number, end: number): boolean {
  if (mayEncodeHex(bytes, start, end)) return true;
  for (let offset = 0; offset < 4; offset += 1) {
    let groups = 0;
    for (let at = start + offset; at + 4 <= end; at += 4) {
      groups = readableAt(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]) ? groups + 1 : 0;
      if (groups === leastGroups) return true;
    }
  }
  return end - start >= leastRun && bytes.toString("latin1", start, start + gzipInBase64.length) === gzipInBase64;
}

/** Whether 15 readable bytes in a row are encoded by hexadecimal digits. */
function mayEncodeHex(bytes: Buffer, start: number, end: number): boolean {
  // A stretch that is long enough has a digit at one of these offsets: elsewhere nothing needs to be read.
  for (let last = start + leastDigits - 1; last < end; last += leastDigits) {
    if (hexDigit(bytes[last] as number) < 0) continue;
    let from = last;
    while (from > start && hexDigit(bytes[from - 1] as number) >= 0) from -= 1;
    let to = last + 1;
    while (to < end && hexDigit(bytes[to] as number) >= 0) to += 1;
    if (encodesReadable(bytes, from, to) || encodesReadable(bytes, from + 1, to)) return true;
    last = to;
  }
  return false;
}

/** Whether 15 readable bytes in a row are encoded by these digits, of which two make a byte. */
function encodesReadable(bytes: Buffer, start: number, end: number): boolean {
  let count = 0;
  for (let at = start; at + 2 <= end; at += 2) {
    const byte = hexDigit(bytes[at] as number) * 16 + hexDigit(bytes[at + 1] as number);
    count = readable[byte] === 1 ? count + 1 : 0;
    if (count === leastBytes) return true;
  }
  return false;
}

/**
 * The readable texts that a run of base64 encodes. Each of the four offsets is tried, since other
 * characters may stand before the encoding.
 */
export function decodeBase64(run: Run): Decoded[] {
  const { text } = run;
  const found: Decoded[] = [];
  for (let offset = 0; offset < 4; offset += 1) {
    let from = -1;
    let at = offset;
    for (; at + 4 <= text.length; at += 4) {
      const good = isReadableGroup(text, at);
      if (good && from < 0) from = at;
      if (!good && from >= 0) {
        add(run, offset, from, at, found);
        from = -1;
      }
    }
    if (from >= 0) add(run, offset, from, at, found);
  }
  return found;
}

function isReadableGroup(text: string, at: number): boolean {
  return readableAt(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2), text.charCodeAt(at + 3));
}

function readableAt(a = 0, b = 0, c = 0, d = 0): boolean {
  const first = values[a] as number;
  const second = values[b] as number;
  if (first < 0 || second < 0 || readable[((first << 2) | (second >> 4)) & 0xff] === 0) return false;
  const third = values[c] as number;
  const fourth = values[d] as number;
  if (third < 0 || fourth < 0) return false;
  return readable[((second << 4) | (third >> 2)) & 0xff] === 1 && readable[((third << 6) | fourth) & 0xff] === 1;
}

/**
 * One group more on either side: a secret may begin or end inside a group that is not readable as a
 * whole.
 */
function add({ text, offsetOf }: Run, offset: number, from: number, to: number, found: Decoded[]): void {
  if (to - from < 4 * leastGroups) return;
  const start = Math.max(offset, from - 4);
  const end = Math.min(text.length, to + 4);
  const part = text.slice(start, end);
  const bytes = Buffer.from(part, "base64");
  found.push({
    bytes,
    locate: (index) => {
      const sign = index === bytes.length ? part.replace(/=+$/, "").length : Math.floor((index * 4) / 3);
      return sign >= part.length ? offsetOf(end - 1) + 1 : offsetOf(start + sign);
    },
    openStart: false,
    openEnd: false,
  });
}

/** The readable texts that runs of hexadecimal digits inside a run encode. */
export function decodeHex(run: Run): Decoded[] {
  const found: Decoded[] = [];
  const { text } = run;
  const isDigit = (at: number): boolean => hexDigit(text.charCodeAt(at)) >= 0;
  for (let last = leastDigits - 1; last < text.length; last += leastDigits) {
    if (!isDigit(last)) continue;
    let from = last;
    while (from > 0 && isDigit(from - 1)) from -= 1;
    let to = last + 1;
    while (to < text.length && isDigit(to)) to += 1;
    if (to - from >= leastDigits) for (const offset of [0, 1]) addHex(run, from + offset, to, found);
    last = to;
  }
  return found;
}

function addHex({ text, offsetOf }: Run, start: number, end: number, found: Decoded[]): void {
  let from = -1;
  let at = start;
  const close = (): void => {
    if (from >= 0 && at - from >= 2 * leastBytes) {
      const begin = from;
      const bytes = Buffer.from(text.slice(begin, at), "hex");
      found.push({
        bytes,
        locate: (index) => (index === bytes.length ? offsetOf(begin + 2 * index - 1) + 1 : offsetOf(begin + 2 * index)),
        openStart: false,
        openEnd: false,
      });
    }
    from = -1;
  };
  for (; at + 2 <= end; at += 2) {
    const byte = hexDigit(text.charCodeAt(at)) * 16 + hexDigit(text.charCodeAt(at + 1));
    if (readable[byte] === 0) close();
    else if (from < 0) from = at;
  }
  close();
}
