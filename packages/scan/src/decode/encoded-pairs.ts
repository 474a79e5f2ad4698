import { base64Value, leastGroups } from "./base64.ts";
import { hexDigit } from "./escapes.ts";

/**
 * Tells from pairs of bytes where an encoded text may be: five groups of base64 in a row, or five
 * pairs of hexadecimal digits, that may decode to ASCII. A state is an integer in which bit n says
 * that the last n + 1 bytes may begin such a text. The step for a pair is `state = ((state << 2) |
 * encodedStart) & encodedPairs[pair]`. The text is long enough at either byte of the pair when the
 * new state has a bit of `encodedEnd`.
 */
const hexadecimalDigits = 10;

const base64Length = 4 * leastGroups;
// Bits 0 to 20: base64, the last one for a text that ended at the pair's first byte. Bits 21 to 31:
// the same for digits.
const hexadecimalFrom = base64Length + 1;
const hexadecimalTo = hexadecimalFrom + hexadecimalDigits;
const start = (1 << 0) | (1 << hexadecimalFrom);

export const encodedStart = start | (start << 1);
export const encodedEnd =
  (1 << (base64Length - 1)) | (1 << base64Length) | (1 << (hexadecimalTo - 1)) | (1 << hexadecimalTo);

let table: Int32Array | undefined;

/** By pair of bytes: first byte plus 256 times the second. */
export function encodedPairs(): Int32Array {
  return (table ??= makeTable());
}

function makeTable(): Int32Array {
  const steps = Int32Array.from({ length: 256 }, (_, byte) => stepOf(byte));
  const pairs = new Int32Array(65_536);
  // Few steps differ, and those that are equal have equal rows.
  const rows = new Map<number, number>();
  steps.forEach((step, second) => {
    const equal = rows.get(step);
    rows.set(step, second);
    if (equal !== undefined) pairs.copyWithin(second << 8, equal << 8, (equal + 1) << 8);
    else steps.forEach((before, first) => (pairs[first | (second << 8)] = ((before << 1) | start) & step));
  });
  return pairs;
}

/** The bits that a byte leaves set. */
function stepOf(byte: number): number {
  let step = (1 << base64Length) | (1 << hexadecimalTo);
  const value = base64Value(byte);
  if (value >= 0)
    for (let group = 0; group < base64Length; group += 4) {
      // Each of the three bytes that a group encodes is below 128: that leaves one bit of three of
      // its characters.
      if (value < 32) step |= 1 << group;
      if ((value & 8) === 0) step |= 2 << group;
      if ((value & 2) === 0) step |= 4 << group;
      step |= 8 << group;
    }
  const digit = hexDigit(byte);
  if (digit >= 0) for (let pair = hexadecimalFrom; pair < hexadecimalTo; pair += 2) step |= (digit < 8 ? 3 : 2) << pair;
  return step;
}
