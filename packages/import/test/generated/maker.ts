import type { ImportFormat } from "../../src/index.ts";

/** A value somewhere in a generated file. */
export interface Placed {
  value: string;
  /** Its place, for a failure's message. */
  where: string;
  /** The reason for which it may be left out; without one it must be in a record. */
  leftOutAs: string | undefined;
  /** The item of the report; undefined for the whole file. */
  item: string | undefined;
  /** Whether reports may show it: names of folders and files. */
  isName: boolean;
}

export interface GeneratedFile {
  format: ImportFormat;
  bytes: Uint8Array;
  placed: Placed[];
}

interface Placing {
  leftOutAs?: string | undefined;
  item?: string | undefined;
  isName?: boolean;
}

/** Chooses by a seed, so that a failure can be repeated, and records the values that it placed. */
export interface Maker {
  placed: Placed[];
  any<T>(of: readonly T[]): T;
  /** Makes one of several values. */
  make<T>(...ways: readonly (() => T)[]): T;
  chance(percent: number): boolean;
  times<T>(most: number, make: (index: number) => T): T[];
  /** A unique value; a text that is hard to quote where `hard` allows one. */
  value(where: string, placing?: Placing & { hard?: boolean }): string;
}

const hardEnds = [
  "",
  "",
  ' "quoted", comma',
  "; semicolon",
  "\nsecond line",
  "\r\nafter CR LF",
  " <b>&amp;</b>",
  " =1+1 ünï🔑",
  " a: b",
];

export function newMaker(seed: number): Maker {
  let state = seed >>> 0;
  let count = 0;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const maker: Maker = {
    placed: [],
    any: (of) => of[next(of.length)] as (typeof of)[number], // the index is inside
    make: (...ways) => maker.any(ways)(),
    chance: (percent) => next(100) < percent,
    times: (most, make) => Array.from({ length: next(most + 1) }, (_, index) => make(index)),
    value(where, { hard = false, leftOutAs, item, isName = false } = {}) {
      count += 1;
      const value = `v${count}v${hard ? maker.any(hardEnds) : ""}`;
      maker.placed.push({ value, where, leftOutAs, item, isName });
      return value;
    },
  };
  return maker;
}
