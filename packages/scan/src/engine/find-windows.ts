import { search } from "./automaton.ts";
import type { Engine, Keyword, Marker, Target } from "./create-engine.ts";
import { stretch } from "./create-engine.ts";
import { leastRun, runMask } from "../decode/runs.ts";

/** Where a text is worth a closer look. */
export interface Windows {
  /** For each rule with a hit: start and end of each window in turn, ascending and without overlap. */
  readonly rules: Map<number, number[]>;
  readonly escapes: number[];
  /** An offset inside each run of base64 characters. */
  readonly runs: number[];
  readonly markers: { offset: number; marker: Marker }[];
}

const defaultWindow = { before: 64, after: 512 };
const escapesWindow = { before: 480, after: 544 };

/** One pass over the text. Windows of a rule that meet become one, so no byte is looked at twice by a rule. */
export function findWindows(engine: Engine, bytes: Uint8Array): Windows {
  const windows: Windows = { rules: new Map(), escapes: [], runs: [], markers: [] };
  const { automaton, overlap, halves } = engine;
  for (let at = 0; at < bytes.length; at += stretch) {
    search(automaton, runMask, leastRun, bytes, at, Math.min(bytes.length, at + stretch), overlap, halves);
    for (const { hits, hitCount, runs, runCount } of halves) {
      addHits(engine, bytes, windows, hits, hitCount);
      for (let index = 0; index < runCount; index += 1) windows.runs.push(runs[index] as number);
    }
  }
  return windows;
}

function addHits(engine: Engine, bytes: Uint8Array, windows: Windows, hits: Uint32Array, count: number): void {
  const { automaton, keywords } = engine;
  const { firstOutput, width, outputs } = automaton;
  for (let index = 0; index < count; index += 2) {
    const end = hits[index] as number;
    for (const name of outputs[((hits[index + 1] as number) - firstOutput) / width] as readonly number[]) {
      const keyword = keywords[name] as Keyword;
      const start = end - keyword.length;
      if (keyword.exact === null || standsAt(bytes, start, keyword.exact))
        for (const target of keyword.targets) addWindow(engine, windows, target, start, end, bytes.length);
    }
  }
}

function addWindow(
  { rules }: Engine,
  windows: Windows,
  target: Target,
  start: number,
  end: number,
  length: number,
): void {
  if (target.kind === "marker") windows.markers.push({ offset: start, marker: target.marker });
  else if (target.kind === "escapes") widen(windows.escapes, start, end, escapesWindow, length);
  else {
    let ranges = windows.rules.get(target.rule);
    if (ranges === undefined) windows.rules.set(target.rule, (ranges = []));
    widen(ranges, start, end, rules[target.rule]?.window ?? defaultWindow, length);
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
  if (last >= 0 && from <= (ranges[last] as number)) ranges[last] = Math.max(to, ranges[last] as number);
  else ranges.push(from, to);
}

function standsAt(bytes: Uint8Array, offset: number, exact: Uint8Array): boolean {
  for (let index = 0; index < exact.length; index += 1) if (bytes[offset + index] !== exact[index]) return false;
  return true;
}
