/** A deterministic random source by seed. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number;
  /** An integer from 0 to below `end`. */
  below(end: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A random item; undefined for an empty list. */
  pick<T>(from: readonly T[]): T | undefined;
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { next, below, chance: (probability) => next() < probability, pick: (from) => from[below(from.length)] };
}
