import { encodedEnd, encodedPairs, encodedStart } from "../decode/encoded-pairs.ts";
import type { Engine, Keyword, Marker, Target } from "./create-engine.ts";
import { partSize } from "./create-engine.ts";
import { keywordsAt, search } from "./pair-filter.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** Where a text is worth a closer look. */
export interface Windows {
  /** For each rule with a hit: start and end of each window in turn, ascending and without overlap. */
  readonly rules: Map<number, number[]>;
  readonly escapes: number[];
  /** An offset inside each run of characters that may be an encoded text, ascending. */
  readonly runs: number[];
  readonly markers: { offset: number; marker: Marker }[];
}

const defaultWindow = { before: 64, after: 512 };
const escapesWindow = { before: 480, after: 544 };

/**
 * One pass over the text. Windows of a rule that meet become one, so no byte is looked at twice by
 * a rule.
 */
export function findWindows(engine: Engine, bytes: Uint8Array): Windows {
  const windows: Windows = { rules: new Map(), escapes: [], runs: [], markers: [] };
  const { filter, keywords, part, state, ranges } = engine;
  const { length } = bytes;
  const pairs = encodedPairs();
  const add = (keyword: number, start: number): void => {
    const { bytes: text, targets } = keywords[keyword] as Keyword;
    for (let index = 0; index < targets.length; index += 1)
      addWindow(engine, windows, targets[index] as Target, start, start + text.length, length);
  };
  state.previous = 0;
  state.encoded = 0;
  for (let at = 0; at < length; at += partSize) {
    const count = Math.min(partSize, length - at);
    part.bytes.set(at === 0 && count === length ? bytes : bytes.subarray(at, at + count));
    // A keyword of two bytes at the very end is found with the next word.
    const isLast = at + count === length;
    if (isLast) part.bytes.fill(0, count, count + 8);
    search(filter, pairs, encodedStart, encodedEnd, part.words, (count >> 2) + (isLast ? 1 : 0), at, state);
    const { hits, hitCount, runs, runCount } = state;
    for (let index = 0; index < runCount; index += 1) windows.runs.push(runs[index] as number);
    for (let index = 0; index < hitCount; index += 1) keywordsAt(filter, bytes, hits[index] as number, add);
  }
  for (const rule of windows.rules.keys()) ranges[rule] = undefined;
  // Keywords of encoded texts come after the runs of their part.
  windows.runs.sort((a, b) => a - b);
  return windows;
}

function addWindow(
  { rules, ranges: rangesByRule }: Engine,
  windows: Windows,
  target: Target,
  start: number,
  end: number,
  length: number,
): void {
  switch (target.kind) {
    case "marker":
      windows.markers.push({ offset: start, marker: target.marker });
      return;
    case "escapes":
      widen(windows.escapes, start, end, escapesWindow, length);
      return;
    case "encoded":
      windows.runs.push(start);
      return;
    case "rule": {
      let ranges = rangesByRule[target.rule];
      if (ranges === undefined) windows.rules.set(target.rule, (ranges = rangesByRule[target.rule] = []));
      widen(ranges, start, end, rules[target.rule]?.window ?? defaultWindow, length);
    }
  }
}

function widen(
  ranges: number[],
  start: number,
  end: number,
  { before, after }: { before: number; after: number },
  length: number,
): void {
  const from = Math.max(0, start - before);
  const to = Math.min(length, end + after);
  const last = ranges.length - 1;
  if (last < 0 || from > (ranges[last] as number)) {
    ranges.push(from, to);
    return;
  }
  ranges[last] = Math.max(to, ranges[last] as number);
  if (from < (ranges[last - 1] as number)) lowerStart(ranges, from);
}

/** Lowers the start of the last range, which may then meet the one before. */
function lowerStart(ranges: number[], from: number): void {
  const last = ranges.length - 1;
  if (last >= 2 && from <= (ranges[last - 2] as number)) {
    ranges.splice(last - 2, 2);
    ranges[ranges.length - 2] = Math.min(from, ranges[ranges.length - 2] as number);
  } else ranges[last - 1] = from;
}
