import { type Report, shown } from "./report.ts";

const columns = [
  ...["path", "start_line", "start_column", "end_line", "end_column", "commit", "kind", "rule_id", "confidence"],
  ...["redacted", "length", "checksum", "account_id", "fingerprint"],
];

/** RFC 4180: a line for each place. */
export function csvReport({ findings }: Report): string {
  const rows = findings.flatMap((finding) =>
    finding.locations.map((at) => [
      ...[at.path, at.start_line, at.start_column, at.end_line, at.end_column, at.commit ?? ""],
      ...[finding.kind, finding.rule_id, finding.confidence, shown(finding), finding.length, finding.checksum],
      ...[finding.account_id ?? "", finding.fingerprint],
    ]),
  );
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/**
 * A spreadsheet takes a cell that begins with one of these signs for a formula, some also those of
 * full width.
 */
function cell(value: string | number): string {
  const text = String(value);
  const harmless = typeof value === "string" && /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
