import { countOf, printNotice } from "../output/output.ts";
import type { Input } from "./input.ts";
import type { Report } from "./report/report.ts";
import type { Settings } from "./settings.ts";

/** Says on stderr what was scanned, what was not, and what to do next. */
export function tellSummary(report: Report, settings: Settings, input: Input): void {
  for (const { path, message } of report.problems) printNotice(`coffer: not scanned whole: ${path} ${message}`);
  if (input.whole)
    for (const { fingerprint, line, used } of settings.ignored)
      if (!used) printNotice(`coffer: .cofferignore, line ${line}: ${fingerprint} ignores nothing any more`);
  const left = [
    report.binary > 0 ? `${countOf(report.binary, "binary file")} not searched (--binary searches them)` : "",
    report.inBaseline > 0 ? `${report.inBaseline} in the baseline ${settings.baselinePath ?? ""}` : "",
    report.ignored > 0 ? `${report.ignored} in .cofferignore` : "",
    settings.baselinePath !== undefined && report.inBaseline === 0 ? `baseline ${settings.baselinePath}` : "",
  ].filter((part) => part !== "");
  const size = `${countOf(report.inputs, "input")}, ${(report.bytes / 1e6).toFixed(1)} MB`;
  printNotice(
    `coffer: ${countOf(report.findings.length, "secret")} in ${size}${left.length > 0 ? `; ${left.join("; ")}` : ""}`,
  );
  if (report.findings.length > 0) for (const line of advice) printNotice(line);
  if (report.problems.length > 0) printNotice("coffer: the scan is incomplete (exit 3)");
}

const advice = [
  "What to do: 1. Revoke each secret where its line says so: removing it from the file does not make it safe.",
  "            2. Put the new one where no commit can hold it: coffer set coffer://<folder>/<title>/field/<field>",
  "            3. Not a secret? Put coffer:allow into a comment on its line, or its cf1:… into .cofferignore.",
];
