import { collectFindings, type Finding, type Problem } from "@coffer/scan";
import type { Outcome } from "../pool/job.ts";

/** The response of a scan. */
export interface ScanAnswer {
  findings: Finding[];
  summary: {
    /** How many secrets were found. */
    findings: number;
    /** How many documents and files of the diff were scanned. */
    inputs: number;
    /** Bytes that were scanned, containers packed. */
    bytes: number;
    /** Binary files that were not searched. */
    binary_skipped: number;
    /** False when something was not scanned whole, or not every finding fits into the answer. */
    complete: boolean;
    problems: Problem[];
  };
}

export function answerOf({ occurrences, problems, inputs, bytes, binary }: Outcome): ScanAnswer {
  const findings = collectFindings(occurrences, "medium");
  const complete = problems.length === 0;
  return {
    findings,
    summary: { findings: findings.length, inputs, bytes, binary_skipped: binary, complete, problems },
  };
}
