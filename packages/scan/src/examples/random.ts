/** A source of repeatable random choices. */
export interface Random {
  /** A whole number from 0 up to, and without, `bound`. */
  below(bound: number): number;
  /** Characters out of an alphabet. */
  text(alphabet: string, length: number): string;
  bytes(length: number): Buffer;
}

/** Mulberry32: small, and good enough for examples. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    text: (alphabet, length) => Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join(""),
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
