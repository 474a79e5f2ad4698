import type { Report } from "./report.ts";

/** Findings and summary as one JSON object. */
export function jsonReport(report: Report): string {
  const { findings, problems, inputs, bytes, binary, inBaseline, ignored, version } = report;
  return `${JSON.stringify(
    {
      version,
      findings,
      summary: {
        findings: findings.length,
        inputs,
        bytes,
        binary_skipped: binary,
        in_baseline: inBaseline,
        ignored,
        complete: problems.length === 0,
        problems,
      },
    },
    null,
    2,
  )}\n`;
}
