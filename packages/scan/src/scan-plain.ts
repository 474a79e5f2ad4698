import { allowanceOf } from "./engine/allowed.ts";
import type { Engine } from "./engine/create-engine.ts";
import { describeSecret } from "./engine/describe.ts";
import { isLockFile, isTestPath } from "./engine/path-rules.ts";
import { positionReader } from "./engine/positions.ts";
import type { Position } from "./engine/positions.ts";
import type { Cut, Detection } from "./engine/run-rule.ts";
import { scanText } from "./engine/scan-text.ts";
import type { Confidence, Occurrence, Problem } from "./finding.ts";
import type { Rule } from "./rule.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

export interface ScanOptions {
  /** The path that findings are reported under. */
  path: string;
  /** The part of the path in which `test` and `fixture` count; without it the whole path. */
  pathBelow?: string;
  commit?: string;
  /** Accept the comments with which other scanners allow a finding. */
  compatibleComments?: boolean;
  /** Put secrets into the findings in plain text. */
  showSecrets?: boolean;
  /** Of further secrets in one text only a problem is reported. */
  mostOccurrences?: number;
}

/**
 * A piece of a text: only what begins from `from` up to `to` is reported, and the position of
 * `from` is known.
 */
export interface Piece {
  from: number;
  to: number;
}

export interface ScanResult {
  occurrences: Occurrence[];
  problems: Problem[];
}

const pairedLines = 5;

/**
 * Scans one text that is held in memory as bytes of latin1 or UTF-8. Positions count from the start
 * of the piece.
 */
export function scanPlain(engine: Engine, cut: Cut, options: ScanOptions, piece?: Piece): ScanResult {
  const { from, to } = piece ?? { from: 0, to: cut.bytes.length };
  const { detections, markers, exhausted } = scanText(engine, cut);
  const problems: Problem[] = exhausted
    ? [{ path: options.path, message: "holds more encodings inside encodings than are searched" }]
    : [];
  if (detections.length === 0) return { occurrences: [], problems };
  const isAllowed = allowanceOf(cut.bytes, markers, options.compatibleComments === true);
  const below = options.pathBelow ?? options.path;
  const inLockFile = isLockFile(options.path);
  const all = detections.filter(
    (each) =>
      each.start >= from && each.start < to && !(inLockFile && each.rule.contextOnly === true) && !isAllowed(each),
  );
  const wanted = all.slice(0, options.mostOccurrences);
  if (wanted.length < all.length)
    problems.push({ path: options.path, message: `holds more than ${wanted.length} secrets: the others are left out` });
  const places = placesOf(cut.bytes.subarray(from), wanted, from);
  const lower = isTestPath(below) ? lowered : (confidence: Confidence) => confidence;
  const isPaired = pairing(wanted, places);
  const occurrences = wanted.map((detection, index): Occurrence => {
    const { start, end } = places[index] as Place;
    const sure = isPaired(detection.rule, start.line) ? "high" : detection.confidence;
    return {
      ...describeSecret(detection, lower(sure), options.showSecrets === true),
      location: {
        path: options.path,
        start_line: start.line,
        start_column: start.column,
        end_line: end.line,
        end_column: end.column,
        ...(options.commit === undefined ? {} : { commit: options.commit }),
      },
    };
  });
  return { occurrences, problems };
}

interface Place {
  start: Position;
  end: Position;
}

/** Where detections begin and end. They are sorted by their start. */
function placesOf(bytes: Buffer, detections: readonly Detection[], shift: number): Place[] {
  const read = positionReader(bytes);
  return detections.map(({ start, end }) => {
    const position = read(start - shift);
    return { start: position, end: positionReader(bytes.subarray(start - shift, end - shift), position)(end - start) };
  });
}

/** Tells whether the other half of a pair, such as the secret key of an access key, stands near a line. */
function pairing(detections: readonly Detection[], places: readonly Place[]): (rule: Rule, line: number) => boolean {
  const lines = new Map<string, Set<number>>();
  const halves = new Set(detections.map(({ rule }) => rule.pairsWith));
  for (const [index, { rule }] of detections.entries()) {
    if (!halves.has(rule.id)) continue;
    const ofRule = lines.get(rule.id) ?? new Set();
    lines.set(rule.id, ofRule.add((places[index] as Place).start.line));
  }
  return ({ pairsWith }, line) => {
    const others = pairsWith === undefined ? undefined : lines.get(pairsWith);
    if (others === undefined) return false;
    for (let near = line - pairedLines; near <= line + pairedLines; near += 1) if (others.has(near)) return true;
    return false;
  };
}

function lowered(confidence: Confidence): Confidence {
  return confidence === "high" ? "medium" : "low";
}
