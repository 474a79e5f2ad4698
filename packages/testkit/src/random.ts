/** Random choices that a seed repeats. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number;
  /** An integer from 0 to below `end`. */
  below(end: number): number;
  /** An integer from `first` to `last`. */
  between(first: number, last: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** An item. Throws RangeError for an empty list. */
  pick<T>(items: readonly T[]): T;
  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[];
  /** Characters of an alphabet. */
  text(alphabet: string, length: number): string;
  bytes(length: number): Buffer;
  uuid(): string;
}

const hex = "0123456789abcdef";

/** mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createRandom(seed: number | string): Random {
  let state = typeof seed === "number" ? seed >>> 0 : hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  const text = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join("");
  return {
    next,
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[below(items.length)] as T; // the index is within
    },
    shuffled: (items) => {
      const left = [...items];
      return items.flatMap(() => left.splice(below(left.length), 1));
    },
    text,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
    uuid: () => `${text(hex, 8)}-${text(hex, 4)}-4${text(hex, 3)}-${text("89ab", 1)}${text(hex, 3)}-${text(hex, 12)}`,
  };
}

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}
