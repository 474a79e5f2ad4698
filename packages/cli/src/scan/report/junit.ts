import { type Report, shown } from "./report.ts";
import { descriptionOf, revokeOf } from "./rule-text.ts";

/** JUnit's XML: a failed case for each place, an error for each input that could not be scanned. */
export function junitReport({ findings, problems }: Report): string {
  const failures = findings.flatMap((finding) =>
    finding.locations.map(({ path, start_line, start_column }) => {
      const name = xml(`${path}:${start_line}:${start_column}`);
      const message = xml(`${descriptionOf(finding)} (${finding.kind}), confidence ${finding.confidence}`);
      const text = xml(`${shown(finding)}\n${finding.fingerprint}\nrevoke: ${revokeOf(finding) ?? ""}`);
      return `    <testcase classname="${xml(finding.rule_id)}" name="${name}"><failure message="${message}">${text}</failure></testcase>`;
    }),
  );
  const errors = problems.map(
    ({ path, message }) =>
      `    <testcase classname="incomplete" name="${xml(path)}"><error message="${xml(message)}"/></testcase>`,
  );
  const clean =
    failures.length + errors.length === 0 ? ['    <testcase classname="coffer scan" name="no secrets"/>'] : [];
  const cases = [...failures, ...errors, ...clean];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="coffer scan" tests="${cases.length}" failures="${failures.length}" errors="${errors.length}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** Text for XML. Characters that XML cannot hold are shown as U+FFFD. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
