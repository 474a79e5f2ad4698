import type { Finding, Location } from "@coffer/scan";
import { usage } from "../failure.ts";
import { globMatcher } from "./glob.ts";

/** A line of `.cofferignore`. */
export interface IgnoreEntry {
  fingerprint: string;
  /** Only places whose path fits; every path without it. */
  glob: string | undefined;
  line: number;
  used: boolean;
}

const form = /^(cf1:[0-9a-f]{32})(?:[ \t]+(?!until=)([^\s#]\S*))?(?:[ \t]+until=(\d{4}-\d\d-\d\d))?[ \t]*(?:#.*)?$/;

/**
 * Reads `.cofferignore`: a fingerprint in each line, with an optional path glob, an optional last
 * day `until=2026-12-31` and a reason behind `#`. Entries whose day has passed are left out. Throws
 * Failure (usage) for a line of another form.
 */
export function readIgnoreFile(text: string, today: string): IgnoreEntry[] {
  return text.split(/\r?\n/).flatMap((line, index): IgnoreEntry[] => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    const [, fingerprint, glob, until] = form.exec(trimmed) ?? [];
    if (fingerprint === undefined)
      throw usage(`.cofferignore, line ${index + 1}: not "cf1:<32 digits> [path] [until=YYYY-MM-DD] [# reason]"`);
    return until !== undefined && until < today ? [] : [{ fingerprint, glob, line: index + 1, used: false }];
  });
}

/** The findings without the places that an entry ignores. Marks the entries that were used. */
export function withoutIgnored(findings: readonly Finding[], entries: readonly IgnoreEntry[]): Finding[] {
  return findings.flatMap((finding) => {
    const own = entries.filter(({ fingerprint }) => fingerprint === finding.fingerprint);
    const locations = finding.locations.filter((location) => !own.some((entry) => ignores(entry, location)));
    return locations.length === 0 ? [] : [{ ...finding, locations }];
  });
}

function ignores(entry: IgnoreEntry, { path }: Location): boolean {
  if (entry.glob !== undefined && !globMatcher(entry.glob)(path)) return false;
  entry.used = true;
  return true;
}
