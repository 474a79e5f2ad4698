/** A deterministic random source: one seed gives one sequence. */
export interface Random {
  /** An integer from 0 to below `most`. */
  below(most: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  /** A random item. */
  pick<Item>(items: readonly Item[]): Item;
  /** The items in another order. */
  shuffled<Item>(items: readonly Item[]): Item[];
  /** Random bytes. */
  bytes(count: number): Buffer;
}

/** Makes the random source of a seed. */
export function createRandom(seed: string): Random {
  let state = hash(seed);
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (most: number): number => Math.floor((next() / 2 ** 32) * most);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: <Item>(items: readonly Item[]): Item => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[below(items.length)] as Item; // the index is within
    },
    shuffled: (items) => {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)).flat();
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value;
}
