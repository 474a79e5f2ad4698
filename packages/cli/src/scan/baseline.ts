import type { Finding } from "@coffer/scan";
import { usage } from "../failure.ts";

export const baselineName = ".coffer-baseline.json";

/** A baseline: the secrets that were there when it was made. */
export interface Baseline {
  version: 1;
  findings: BaselineEntry[];
}

export interface BaselineEntry {
  fingerprint: string;
  rule_id: string;
  paths: string[];
}

/**
 * The baseline of these findings: sorted and without line numbers or dates, so that two of them
 * merge in git.
 */
export function baselineOf(findings: readonly Finding[]): Baseline {
  const entries = findings.map(({ fingerprint, rule_id, locations }) => ({
    fingerprint,
    rule_id,
    paths: [...new Set(locations.map(({ path }) => path))].sort(),
  }));
  return { version: 1, findings: entries.sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1)) };
}

/** As it is written to a file: an entry's members each on a line. */
export function baselineText(baseline: Baseline): string {
  return `${JSON.stringify(baseline, null, 2)}\n`;
}

/** Throws Failure (usage) when the text is no baseline. */
export function readBaseline(text: string, path: string): Baseline {
  const wrong = usage(`${path} is no baseline: make one with coffer scan baseline create`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (!isBaseline(value)) throw wrong;
  return value;
}

function isBaseline(value: unknown): value is Baseline {
  if (typeof value !== "object" || value === null || !("version" in value) || value.version !== 1) return false;
  return "findings" in value && Array.isArray(value.findings) && value.findings.every(isEntry);
}

function isEntry(value: unknown): value is BaselineEntry {
  if (typeof value !== "object" || value === null) return false;
  const { fingerprint, rule_id, paths } = value as Record<string, unknown>; // checked here
  return (
    typeof fingerprint === "string" &&
    typeof rule_id === "string" &&
    Array.isArray(paths) &&
    paths.every((path) => typeof path === "string")
  );
}
