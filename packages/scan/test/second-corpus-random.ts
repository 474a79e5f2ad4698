import { seededRandom } from "../src/examples/random.ts";

/** Pseudo-random choices from a seed, so that each run makes one corpus. */
export interface Draw {
  /** An integer of 0 up to `limit`, exclusive. */
  below(limit: number): number;
  /** An integer of `from` to `to`, inclusive. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  text(alphabet: string, length: number): string;
  bytes(length: number): Buffer;
  uuid(): string;
}

export const digits = "0123456789";
export const lower = "abcdefghijklmnopqrstuvwxyz";
export const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
export const hex = "0123456789abcdef";
export const base36 = digits + lower;
export const base62 = digits + upper + lower;
export const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
export const base64 = `${base62}+/`;
export const base64url = `${base62}-_`;
export const base32 = `${upper}234567`;

export function draw(seed: number): Draw {
  const { below, text, bytes } = seededRandom(seed);
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    pick: (list) => {
      const item = list[below(list.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    text,
    bytes,
    uuid: () => `${text(hex, 8)}-${text(hex, 4)}-4${text(hex, 3)}-${text("89ab", 1)}${text(hex, 3)}-${text(hex, 12)}`,
  };
}
