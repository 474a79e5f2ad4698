import { type Report, shown } from "./report.ts";
import { descriptionOf } from "./rule-text.ts";

/** The form of gitleaks' JSON report, one entry for each place. */
export function gitleaksReport({ findings }: Report): string {
  const entries = findings.flatMap((finding) =>
    finding.locations.map(({ path, start_line, start_column, end_line, end_column, commit = "" }) => ({
      RuleID: finding.rule_id,
      Description: descriptionOf(finding),
      StartLine: start_line,
      EndLine: end_line,
      StartColumn: start_column,
      // There the end is inclusive.
      EndColumn: end_column - 1,
      Match: shown(finding),
      Secret: shown(finding),
      File: path,
      SymlinkFile: "",
      Commit: commit,
      Entropy: 0,
      Author: "",
      Email: "",
      Date: "",
      Message: "",
      Tags: [finding.kind, finding.confidence],
      Fingerprint: finding.fingerprint,
    })),
  );
  return `${JSON.stringify(entries, null, 2)}\n`;
}
