import type { Decoded } from "./decoded.ts";

/** Texts with which the escapes of a printable ASCII character begin: percent, backslash and HTML. */
export const escapeKeywords: readonly string[] = [
  ...["2", "3", "4", "5", "6", "7"].flatMap((digit) => [`%${digit}`, `\\x${digit}`]),
  ...["\\u00", "\\U0", "\\u{", "\\0", "\\1", "\\/", "&#"],
];

const [percent, backslash, ampersand, newline, carriage] = [0x25, 0x5c, 0x26, 0x0a, 0x0d];
const letters: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27 }).map(([letter, code]) => [
    letter.charCodeAt(0),
    code,
  ]),
);

/** Decodes one level of all escapes of a part of a text: `%41`, `\x41`, `\u0041`, `\u{41}`, `\101`, `\/`, `&#65;`. */
export function decodeEscapes(source: Buffer, from: number, to: number): Decoded {
  const bytes = Buffer.allocUnsafe(to - from);
  const starts = new Uint32Array(to - from + 1);
  let length = 0;
  for (let at = from; at < to;) {
    const { code, size } = escapeAt(source, at, to) ?? { code: source[at] as number, size: 1 };
    // Beyond latin1 no rule has a character: any other stands for it.
    if (code >= 0) {
      bytes[length] = code > 0xff ? 0x3f : code;
      starts[length] = at;
      length += 1;
    }
    at += size;
  }
  starts[length] = to;
  return {
    bytes: bytes.subarray(0, length),
    locate: (offset) => starts[offset] as number,
    openStart: from > 0,
    openEnd: to < source.length,
  };
}

interface Escape {
  /** The character, or -1 for an escape that stands for nothing. */
  code: number;
  size: number;
}

function escapeAt(source: Buffer, at: number, to: number): Escape | null {
  const first = source[at] as number;
  if (first === percent) return hexEscape(source, at + 1, 2, 1);
  if (first === ampersand) return htmlEscape(source, at, to);
  if (first !== backslash || at + 1 >= to) return null;
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
  const octal = /^[0-3][0-7]{2}/.exec(source.toString("latin1", at + 1, Math.min(to, at + 4)));
  if (octal !== null) return { code: Number.parseInt(octal[0], 8), size: 4 };
  return { code: letters.get(second) ?? second, size: 2 };
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

function htmlEscape(source: Buffer, at: number, to: number): Escape | null {
  if (source[at + 1] !== 0x23) return null;
  const match = /^&#(?:[xX]([0-9A-Fa-f]{1,6})|([0-9]{1,7}));/.exec(
    source.toString("latin1", at, Math.min(to, at + 12)),
  );
  if (match === null) return null;
  const code = match[1] === undefined ? Number.parseInt(match[2] as string, 10) : Number.parseInt(match[1], 16);
  return { code, size: match[0].length };
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}
