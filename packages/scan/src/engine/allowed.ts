import type { Rule } from "../rule.ts";
import type { Marker } from "./create-engine.ts";
import type { Detection } from "./run-rule.ts";

interface Allowance {
  /** Offsets of the marker's own line and the next one. */
  from: number;
  to: number;
  /** The rule or kind that is named; every one without a name. */
  name: string | undefined;
}

/** The name of a kind or rule in a comment: the kind with hyphens for its blanks. */
export function slugOf(kind: string): string {
  return kind.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

/**
 * Whether a comment on the secret's line or the one before allows it: `coffer:allow`, or `coffer:allow <kind>` with the id of
 * a rule or the name of a kind. With `compatible`, the comments of other scanners count too.
 */
export function allowanceOf(
  bytes: Buffer,
  markers: readonly { offset: number; marker: Marker }[],
  compatible: boolean,
): (detection: Detection) => boolean {
  const allowances = markers
    .filter(({ marker }) => marker === "coffer" || compatible)
    .map(({ offset, marker }) => allowance(bytes, offset, marker));
  return ({ rule, start }) =>
    allowances.some(({ from, to, name }) => start >= from && start < to && (name === undefined || names(rule, name)));
}

function allowance(bytes: Buffer, offset: number, marker: Marker): Allowance {
  const end = bytes.indexOf(0x0a, offset);
  const next = end < 0 ? bytes.length : bytes.indexOf(0x0a, end + 1);
  const text = bytes.toString("latin1", offset, Math.min(offset + 100, end < 0 ? bytes.length : end));
  const named = marker === "coffer" ? /^coffer:allow[ \t]+([a-z0-9][a-z0-9-]*)/i.exec(text) : null;
  return {
    from: bytes.lastIndexOf(0x0a, offset) + 1,
    to: next < 0 ? bytes.length : next,
    name: named?.[1]?.toLowerCase(),
  };
}

function names({ id, kind }: Rule, name: string): boolean {
  return id === name || slugOf(kind) === name;
}
