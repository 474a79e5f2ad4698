import { confidences } from "./finding.ts";
import type { Confidence, Finding, Location, Occurrence } from "./finding.ts";

/** One finding for each secret, with all its places, in the order of the first place. */
export function collectFindings(occurrences: readonly Occurrence[], leastConfidence: Confidence): Finding[] {
  const least = confidences.indexOf(leastConfidence);
  const findings = new Map<string, Finding>();
  const places = new Set<string>();
  for (const { location, ...description } of [...occurrences].sort(byLocation)) {
    if (confidences.indexOf(description.confidence) < least) continue;
    const { fingerprint } = description;
    const { path, start_line, start_column, commit = "" } = location;
    const place = [fingerprint, path, start_line, start_column, commit].join("\0");
    if (places.has(place)) continue;
    places.add(place);
    const finding = findings.get(fingerprint);
    if (finding === undefined) findings.set(fingerprint, { ...description, locations: [location] });
    else {
      finding.locations.push(location);
      if (confidences.indexOf(description.confidence) > confidences.indexOf(finding.confidence))
        finding.confidence = description.confidence;
    }
  }
  return [...findings.values()];
}

function byLocation({ location: a }: { location: Location }, { location: b }: { location: Location }): number {
  return (
    compare(a.path, b.path) ||
    a.start_line - b.start_line ||
    a.start_column - b.start_column ||
    compare(a.commit ?? "", b.commit ?? "")
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
