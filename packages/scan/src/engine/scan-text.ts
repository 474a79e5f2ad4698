import { zlib } from "../checks/builtin.ts";
import { decodeBase64, decodeHex, gzipInBase64, mayEncode } from "../decode/base64.ts";
import type { Decoded } from "../decode/decoded.ts";
import { decodeEscapes } from "../decode/escapes.ts";
import { namedValue } from "../decode/named-value.ts";
import { runsAt } from "../decode/runs.ts";
import type { Run } from "../decode/runs.ts";
import { toUtf8, wideEncodingOf } from "../decode/unicode.ts";
import type { Engine, Marker } from "./create-engine.ts";
import { findWindows } from "./find-windows.ts";
import type { Cut, Detection } from "./run-rule.ts";
import { runRule } from "./run-rule.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

export interface TextResult {
  detections: Detection[];
  markers: { offset: number; marker: Marker }[];
  /** The text holds more encodings inside encodings than are looked into. */
  exhausted: boolean;
}

const mostDepth = 4;
const mostUnpacked = 8 * 1024 * 1024;

/** How many decoded bytes may still be searched. Encodings inside encodings must not multiply the work. */
interface Budget {
  left: number;
  exhausted: boolean;
}

/** All secrets of a text, also those that are encoded inside it. Takes time linear in its length. */
export function scanText(engine: Engine, cut: Cut): TextResult {
  const budget = { left: 4 * cut.bytes.length + 1024 * 1024, exhausted: false };
  const { detections, markers } = scanLevel(engine, cut, 0, budget);
  return { detections: withoutDoubles(detections), markers, exhausted: budget.exhausted };
}

function scanLevel(engine: Engine, cut: Cut, depth: number, budget: Budget): Omit<TextResult, "exhausted"> {
  const { rules, escapes, runs, markers } = findWindows(engine, cut.bytes);
  const detections: Detection[] = [];
  for (const [index, ranges] of rules) {
    const rule = engine.rules[index];
    if (rule === undefined) continue;
    engine.onRule(index);
    for (let at = 0; at < ranges.length; at += 2)
      runRule(rule, cut, ranges[at] as number, ranges[at + 1] as number, detections);
  }
  if (depth < mostDepth) {
    for (let at = 0; at < escapes.length; at += 2) {
      const decoded = decodeEscapes(cut.bytes, escapes[at] as number, escapes[at + 1] as number);
      if (decoded !== null) scanDecoded(engine, decoded, depth, budget, detections);
    }
    for (const run of runsAt(cut.bytes, runs, mayEncode)) {
      const named = namedValue(cut.bytes, run);
      const others = [...decodeBase64(run), ...decodeHex(run), ...unpacked(run, budget)];
      for (const decoded of named === undefined ? others : [named, ...others])
        scanDecoded(engine, decoded, depth, budget, detections);
    }
  }
  return { detections, markers };
}

function scanDecoded(engine: Engine, decoded: Decoded, depth: number, budget: Budget, into: Detection[]): void {
  if (budget.left < decoded.bytes.length) {
    budget.exhausted = true;
    return;
  }
  budget.left -= decoded.bytes.length;
  const { bytes, locate, openStart, openEnd } = narrowed(decoded);
  for (const found of scanLevel(engine, { bytes, openStart, openEnd }, depth + 1, budget).detections)
    into.push({
      ...found,
      depth: found.depth + 1,
      start: locate(found.start),
      end: Math.max(locate(found.start) + 1, locate(found.end)),
    });
}

/** A decoded text of UTF-16 or UTF-32 in one byte for each character. */
function narrowed(decoded: Decoded): Decoded {
  const encoding = decoded.bytes.includes(0) ? wideEncodingOf(decoded.bytes) : undefined;
  if (encoding === undefined) return decoded;
  const size = encoding.startsWith("utf-16") ? 2 : 4;
  const narrow = Buffer.from(toUtf8(decoded.bytes, encoding).toString("utf8"), "latin1");
  return {
    ...decoded,
    bytes: narrow,
    locate: (offset) => decoded.locate(Math.min(decoded.bytes.length, offset * size)),
  };
}

/** A gzip file in base64, as Helm stores its releases. */
function unpacked({ text, offsetOf }: Run, budget: Budget): Decoded[] {
  if (!text.startsWith(gzipInBase64)) return [];
  const maxOutputLength = Math.max(1, Math.min(mostUnpacked, budget.left));
  try {
    const bytes = zlib().gunzipSync(Buffer.from(text, "base64"), { maxOutputLength });
    const [start, end] = [offsetOf(0), offsetOf(text.length - 1) + 1];
    return [{ bytes, locate: (offset) => (offset === bytes.length ? end : start), openStart: false, openEnd: false }];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") return [];
    // Unpacking took as long as the search of what came out.
    budget.left -= maxOutputLength;
    budget.exhausted = true;
    return [];
  }
}

/**
 * Each secret once where several ways lead to it, sorted by their start. What stands there in plain
 * text goes before what a decoder makes of the same characters. Leaves out what gives way to
 * another rule.
 */
function withoutDoubles(detections: readonly Detection[]): Detection[] {
  const sorted = [...detections].sort((a, b) => a.start - b.start || a.depth - b.depth);
  const plain = new Map<string, Detection[]>();
  for (const detection of sorted)
    if (detection.depth === 0) {
      const ofRule = plain.get(detection.rule.id);
      if (ofRule === undefined) plain.set(detection.rule.id, [detection]);
      else ofRule.push(detection);
    }
  const ends = new Map<string, number>();
  const once = sorted.filter((detection) => {
    const { rule, depth, secret, start, end } = detection;
    if (depth > 0 && overlapsOne(plain.get(rule.id) ?? [], detection)) return false;
    const key = `${rule.id} ${secret}`;
    const isDouble = start < (ends.get(key) ?? 0);
    ends.set(key, Math.max(end, ends.get(key) ?? 0));
    return !isDouble;
  });
  const strong = once.filter(({ rule }) => rule.yields !== true);
  return once.filter((each) => each.rule.yields !== true || !overlapsOne(strong, each));
}

/** Whether one of the detections, which are sorted by their start, shares characters with this one. */
function overlapsOne(sorted: readonly Detection[], { start, end }: Detection): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as Detection).start < end) low = middle + 1;
    else high = middle;
  }
  // Secrets are short: only the nearest before can reach so far.
  for (let index = low - 1; index >= Math.max(0, low - 16); index -= 1)
    if ((sorted[index] as Detection).end > start) return true;
  return false;
}
