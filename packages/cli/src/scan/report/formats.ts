import { csvReport } from "./csv.ts";
import { githubReport } from "./github.ts";
import { gitleaksReport } from "./gitleaks-json.ts";
import { jsonReport } from "./json.ts";
import { junitReport } from "./junit.ts";
import type { Report } from "./report.ts";
import { sarifReport } from "./sarif.ts";
import { textReport } from "./text.ts";

const formats: Readonly<Record<string, (report: Report) => string>> = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
  "gitleaks-json": gitleaksReport,
  junit: junitReport,
  csv: csvReport,
  github: githubReport,
};

/** A report in the form that `--format` names, which the command line has checked. */
export function reportIn(format: string, report: Report): string {
  return (formats[format] ?? textReport)(report);
}
