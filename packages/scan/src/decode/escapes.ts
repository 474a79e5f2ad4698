import type { Decoded } from "./decoded.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** Texts with which the escapes of a printable ASCII character begin: percent, backslash and HTML. */
export const escapeKeywords: readonly string[] = [
  ...["2", "3", "4", "5", "6", "7"].flatMap((digit) => [`%${digit}`, `\\x${digit}`]),
  ...["\\u00", "\\U0", "\\u{", "\\0", "\\1", "\\/", "&#"],
];

const [percent, backslash, ampersand, semicolon, newline, carriage] = [0x25, 0x5c, 0x26, 0x3b, 0x0a, 0x0d];
const letters: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27 }).map(([letter, code]) => [
    letter.charCodeAt(0),
    code,
  ]),
);

/**
 * Decodes one level of all escapes of a part of a text: `%41`, `\x41`, `\u0041`, `\u{41}`, `\101`,
 * `\/`, `&#65;`. Returns null when there is none.
 */
export function decodeEscapes(source: Buffer, from: number, to: number): Decoded | null {
  const bytes = Buffer.allocUnsafe(to - from);
  const length = decodeInto(source, from, to, bytes);
  if (length === null) return null;
  let starts: Uint32Array | undefined;
  return {
    bytes: bytes.subarray(0, length),
    // Few texts have a secret: only for those are the offsets looked up.
    locate: (offset) => (starts ??= startsOf(source, from, to))[offset] as number,
    openStart: from > 0,
    openEnd: to < source.length,
  };
}

/** For each decoded byte the offset at which its escape begins, then the end. */
function startsOf(source: Buffer, from: number, to: number): Uint32Array {
  const starts = new Uint32Array(to - from + 1);
  const length = decodeInto(source, from, to, new Uint8Array(to - from), starts) ?? 0;
  starts[length] = to;
  return starts;
}

/** Returns the number of decoded bytes; null when the text has no escape. */
function decodeInto(source: Buffer, from: number, to: number, bytes: Uint8Array, starts?: Uint32Array): number | null {
  let length = 0;
  let hasEscape = false;
  for (let at = from; at < to;) {
    const byte = source[at] as number;
    const escape = byte === backslash || byte === percent || byte === ampersand ? escapeAt(source, at, byte, to) : null;
    if (escape !== null) hasEscape = true;
    const code = escape === null ? byte : escape.code;
    // Beyond latin1 no rule has a character: any other stands for it.
    if (code >= 0) {
      bytes[length] = code > 0xff ? 0x3f : code;
      if (starts !== undefined) starts[length] = at;
      length += 1;
    }
    at += escape === null ? 1 : escape.size;
  }
  return hasEscape ? length : null;
}

interface Escape {
  /** The character, or -1 for an escape that stands for nothing. */
  code: number;
  size: number;
}

function escapeAt(source: Buffer, at: number, first: number, to: number): Escape | null {
  if (first === percent) return hexEscape(source, at + 1, 2, 1);
  if (first === ampersand) return htmlEscape(source, at, to);
  if (at + 1 >= to) return null;
  const second = source[at + 1] as number;
  switch (second) {
    case 0x75: // u
      return source[at + 2] === 0x7b ? bracedEscape(source, at) : hexEscape(source, at + 2, 4, 2);
    case 0x55: // U
      return hexEscape(source, at + 2, 8, 2);
    case 0x78: // x
      return hexEscape(source, at + 2, 2, 2);
    case newline:
      return { code: -1, size: 2 };
    case carriage:
      return { code: -1, size: source[at + 2] === newline ? 3 : 2 };
  }
  if (second >= 0x30 && second <= 0x33 && isOctal(source[at + 2]) && isOctal(source[at + 3]) && at + 4 <= to)
    return { code: ((second & 3) << 6) | (((source[at + 2] ?? 0) & 7) << 3) | ((source[at + 3] ?? 0) & 7), size: 4 };
  return { code: letters.get(second) ?? second, size: 2 };
}

function isOctal(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x37;
}

function hexEscape(source: Buffer, digits: number, count: number, marks: number): Escape | null {
  let code = 0;
  for (let index = 0; index < count; index += 1) {
    const digit = hexDigit(source[digits + index] ?? 0);
    if (digit < 0) return null;
    code = code * 16 + digit;
  }
  return { code, size: marks + count };
}

function bracedEscape(source: Buffer, at: number): Escape | null {
  const match = /^\\u\{([0-9A-Fa-f]{1,6})\}/.exec(source.toString("latin1", at, at + 10));
  return match === null ? null : { code: Number.parseInt(match[1] as string, 16), size: match[0].length };
}

/** `&#65;` or `&#x41;`, with at most seven digits, or six in hexadecimal. */
function htmlEscape(source: Buffer, at: number, to: number): Escape | null {
  if (source[at + 1] !== 0x23) return null;
  const isHexadecimal = ((source[at + 2] ?? 0) | 0x20) === 0x78;
  const digits = at + (isHexadecimal ? 3 : 2);
  const [base, most] = isHexadecimal ? [16, 6] : [10, 7];
  let code = 0;
  let end = digits;
  for (; end < Math.min(to, digits + most); end += 1) {
    const digit = hexDigit(source[end] as number);
    if (digit < 0 || digit >= base) break;
    code = code * base + digit;
  }
  return end > digits && end < to && source[end] === semicolon ? { code, size: end + 1 - at } : null;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}
