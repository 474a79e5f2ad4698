import { base36, digits, hex } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";

/** A kind of credential as its vendor's documents describe it. */
export interface Kind {
  name: string;
  /** The variable in which the vendor's documents store it. */
  variable: string;
  /** Recognized only by a name beside it. */
  named?: boolean;
  /** The specification's term, where it has one. */
  term?: string;
  /** Reported at low confidence by design. */
  low?: boolean;
  /** The rule of another credential that stands beside it in its own texts. */
  companion?: string;
  make(draw: Draw): string;
  /** The part that a finding must contain; without it the whole value. */
  core?(value: string): string;
  /** Whole texts in which the vendor's documents show it. */
  texts?(draw: Draw, value: string): string[];
  /** Stands in its own texts alone. */
  own?: boolean;
  /** Values that look like one and are none. */
  near?(draw: Draw): string[];
}

interface Shape {
  name: string;
  variable: string;
  prefix: string;
  alphabet: string;
  length: number;
  /** The vendor makes other lengths too: another length is no near-miss. */
  open?: boolean;
  /** What follows a body, such as a checksum. */
  tail?(body: string, draw: Draw): string;
  /** A tail of the right form and the wrong value. */
  wrongTail?(body: string, draw: Draw): string;
  term?: string;
  named?: boolean;
  low?: boolean;
  texts?: Kind["texts"];
  near?: Kind["near"];
}

/** A prefix and a random body, with the near-misses that this form has. */
export function token(shape: Shape): Kind {
  const { name, variable, prefix, alphabet, length, tail = () => "" } = shape;
  const body = (draw: Draw, count: number): string => draw.text(alphabet, count);
  return {
    name,
    variable,
    ...(shape.named === true ? { named: true } : {}),
    ...(shape.low === true ? { low: true } : {}),
    ...(shape.term === undefined ? {} : { term: shape.term }),
    ...(shape.texts === undefined ? {} : { texts: shape.texts }),
    make: (draw) => {
      const text = body(draw, length);
      return `${prefix}${text}${tail(text, draw)}`;
    },
    near: (draw) => {
      const width = length + tail("", draw).length;
      const values = placeholders(draw, alphabet, width).map((filler) => `${prefix}${filler}`);
      if (shape.named !== true && shape.open !== true)
        values.push(`${prefix}${body(draw, Math.floor(length / 2) - 2)}`);
      if (shape.open !== true) values.push(`${prefix}${body(draw, width + draw.between(20, 40))}`);
      if (alphabet === hex) values.push(`${prefix}${outsideHex(draw, width)}`);
      if (shape.wrongTail !== undefined) {
        const text = body(draw, length);
        values.push(`${prefix}${text}${shape.wrongTail(text, draw)}`);
      }
      return [...values, ...(shape.near?.(draw) ?? [])];
    },
  };
}

/** Bodies that people write in place of a secret, of exactly the length that the form has. */
export function placeholders(draw: Draw, alphabet: string, length: number): string[] {
  const letters = alphabet === hex ? hex : base36;
  const char = letters[draw.below(letters.length)] ?? "a";
  const all = [
    char.repeat(length),
    cycle(alphabet === hex ? "deadbeef" : "xxxx", length),
    cycle("1234567890", length),
    cycle(alphabet === hex ? "0123456789abcdef" : "abcdefghijklmnopqrstuvwxyz0123456789", length),
    cycle("0", length),
    "<your-token-here>",
    "your_token_here",
    "...",
    "*".repeat(length),
    "[REDACTED]",
  ];
  if (alphabet.includes("E") && alphabet.includes("X")) all.push(`${draw.text(alphabet, length - 7)}EXAMPLE`);
  if (alphabet.includes("X")) all.push("X".repeat(length));
  if (alphabet.includes("l") && alphabet.includes("_")) all.push(cycle("your_secret_token_goes_here_", length));
  return all;
}

export function cycle(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function outsideHex(draw: Draw, length: number): string {
  const text = draw.text(base36, length - 4);
  return `${text.slice(0, length / 2)}${draw.text("ghjkmnpqrstvwxyz", 4)}${text.slice(length / 2)}`;
}

/** Letters alone, in words, as names in code are. */
export function words(draw: Draw, separator: string, length: number): string {
  const list = "model config token value access service client request handler default internal provider".split(" ");
  let text = draw.pick(list);
  while (text.length < length) text += `${separator}${draw.pick(list)}`;
  return text.slice(0, length);
}

export function numberOf(draw: Draw, length: number): string {
  return `${draw.between(1, 9)}${draw.text(digits, length - 1)}`;
}
