import type { Report } from "./report.ts";

type Format = (report: Report) => string;

/** Loads the one format that is wanted. */
const formats: Readonly<Record<string, () => Promise<Format>>> = {
  json: async () => (await import("./json.ts")).jsonReport,
  sarif: async () => (await import("./sarif.ts")).sarifReport,
  "gitleaks-json": async () => (await import("./gitleaks-json.ts")).gitleaksReport,
  junit: async () => (await import("./junit.ts")).junitReport,
  csv: async () => (await import("./csv.ts")).csvReport,
  github: async () => (await import("./github.ts")).githubReport,
};

/** A report in the form that `--format` names, which the command line has checked. */
export async function reportIn(format: string, report: Report): Promise<string> {
  const load = formats[format];
  if (load !== undefined) return (await load())(report);
  // Most scans find nothing.
  return report.findings.length === 0 ? "" : (await import("./text.ts")).textReport(report);
}
