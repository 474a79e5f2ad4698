import type { Confidence } from "@coffer/scan";
import { type Report, shown } from "./report.ts";
import { descriptionOf, revokeOf } from "./rule-text.ts";

const commands: Readonly<Record<Confidence, string>> = { high: "error", medium: "warning", low: "notice" };

/** Commands that make annotations in GitHub Actions. */
export function githubReport({ findings, problems }: Report): string {
  const annotations = findings.flatMap((finding) =>
    finding.locations.map(({ path, start_line, start_column, end_line, end_column }) => {
      const properties = {
        file: path,
        line: start_line,
        endLine: end_line,
        ...(start_line === end_line ? { col: start_column, endColumn: end_column } : {}),
        title: descriptionOf(finding),
      };
      const list = Object.entries(properties).map(([name, value]) => `${name}=${property(String(value))}`);
      const text = `${shown(finding)} (${finding.kind}). Revoke it: ${revokeOf(finding) ?? "at its vendor"}. ${finding.fingerprint}`;
      return `::${commands[finding.confidence]} ${list.join(",")}::${data(text)}\n`;
    }),
  );
  const failures = problems.map(
    ({ path, message }) => `::error file=${property(path)}::${data(`${path} ${message}`)}\n`,
  );
  return [...annotations, ...failures].join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
