import type { Rule } from "../rule.ts";
import type { Marker } from "./create-engine.ts";
import type { Detection } from "./run-rule.ts";

// Each index is within bounds: `as` leaves out the `undefined` that its type adds.

/** The findings that the comments of one line allow, there and on the next line. */
interface Allowance {
  /** Offsets of the line's start, its end and the end of the next one. */
  from: number;
  end: number;
  to: number;
  /** Everything, whatever its kind. */
  all: boolean;
  /** The rules and kinds that are named. */
  names: Set<string>;
}

/** The name of a kind or rule in a comment: the kind with hyphens for its blanks. */
export function slugOf(kind: string): string {
  return kind.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

/**
 * Whether a comment on the secret's line or the one before allows it: `coffer:allow`, or
 * `coffer:allow <kind>` with the id of a rule or the name of a kind. With `compatible`, the
 * comments of other scanners count too.
 */
export function allowanceOf(
  bytes: Buffer,
  markers: readonly { offset: number; marker: Marker }[],
  compatible: boolean,
): (detection: Detection) => boolean {
  const lines: Allowance[] = [];
  for (const { offset, marker } of [...markers].sort((a, b) => a.offset - b.offset)) {
    if (marker !== "coffer" && !compatible) continue;
    let line = lines.at(-1);
    if (line === undefined || offset >= line.end) lines.push((line = lineAt(bytes, offset)));
    const name = marker === "coffer" ? nameAt(bytes, offset, line.end) : undefined;
    if (name === undefined) line.all = true;
    else line.names.add(name);
  }
  return ({ rule, start }) => {
    // Only the comments of its own line and of the one before can reach it.
    const own = lastUpTo(lines, start);
    return [lines[own], lines[own - 1]].some((line) => line !== undefined && start < line.to && names(line, rule));
  };
}

function lineAt(bytes: Buffer, offset: number): Allowance {
  const end = bytes.indexOf(0x0a, offset);
  const next = end < 0 ? -1 : bytes.indexOf(0x0a, end + 1);
  return {
    from: bytes.lastIndexOf(0x0a, offset) + 1,
    end: end < 0 ? bytes.length : end,
    to: next < 0 ? bytes.length : next,
    all: false,
    names: new Set(),
  };
}

function nameAt(bytes: Buffer, offset: number, end: number): string | undefined {
  const text = bytes.toString("latin1", offset, Math.min(offset + 100, end));
  return /^coffer:allow[ \t]+([a-z0-9][a-z0-9-]*)/i.exec(text)?.[1]?.toLowerCase();
}

/** The index of the last line that begins at the offset or before; -1 without one. */
function lastUpTo(lines: readonly Allowance[], offset: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as Allowance).from <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function names({ all, names }: Allowance, { id, kind }: Rule): boolean {
  return all || names.has(id) || names.has(slugOf(kind));
}
