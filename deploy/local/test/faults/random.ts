/** Numbers that a seed brings back. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  /** One of these. */
  one<T>(list: readonly T[]): T;
  /** The same in another order. */
  shuffled<T>(list: readonly T[]): T[];
}

/** mulberry32: good enough to choose by, and eight lines. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    one: <T>(list: readonly T[]) => list[below(list.length)] as T, // the list is not empty
    shuffled: (list) =>
      list
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}
