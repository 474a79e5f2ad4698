import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Call } from "../../command-row.ts";
import { usage } from "../../failure.ts";
import { errorCode } from "../../files/error-code.ts";
import { countOf, printJson, printNotice } from "../../output/output.ts";
import { type Baseline, baselineName, baselineOf, baselineText, readBaseline } from "../../scan/baseline.ts";
import { scanExitCodes } from "../../scan/exit-codes.ts";
import { runScan } from "../../scan/run-scan.ts";
import type { ScanCommandOptions } from "../../scan/scan-options.ts";
import { readSettings } from "../../scan/settings.ts";
import { inputOf, wholeOrIncomplete } from "./scan.ts";

type Options = ScanCommandOptions & { json?: boolean };

/**
 * `coffer scan baseline create|prune`: notes the secrets that are there, or drops those that are
 * there no more.
 */
export async function scanBaseline({ args: [action, ...paths], options }: Call<Options>): Promise<void> {
  await wholeOrIncomplete(async () => {
    if (action !== "create" && action !== "prune") throw usage("coffer scan baseline create, or prune");
    const settings = { ...(await readSettings({ ...options, baseline: false }, process.cwd())), baseline: undefined };
    const file = options.output === undefined ? join(settings.base, baselineName) : resolve(options.output);
    const input = await inputOf(paths, options, settings);
    const present = action === "prune" ? readBaseline(textOf(file), options.output ?? baselineName) : undefined;
    const report = await runScan(input, settings);
    for (const { path, message } of report.problems) printNotice(`coffer: not scanned whole: ${path} ${message}`);
    if (report.problems.length > 0 && action === "prune") {
      printNotice("coffer: the scan is incomplete, so nothing was dropped (exit 3)");
      process.exitCode = scanExitCodes.incomplete;
      return;
    }
    const found = baselineOf(report.findings);
    const baseline = present === undefined ? found : pruned(present, found);
    writeFileSync(file, baselineText(baseline));
    const dropped = present === undefined ? 0 : present.findings.length - baseline.findings.length;
    if (options.json === true) printJson({ file, secrets: baseline.findings.length, dropped });
    printNotice(
      `coffer: ${countOf(baseline.findings.length, "secret")} in ${file}${present === undefined ? "" : `, ${dropped} dropped`}`,
    );
    if (report.problems.length > 0) process.exitCode = scanExitCodes.incomplete;
  });
}

/** The entries whose secret is still found. Nothing new comes in. */
function pruned(present: Baseline, found: Baseline): Baseline {
  const still = new Set(found.findings.map(({ fingerprint }) => fingerprint));
  return { version: 1, findings: present.findings.filter(({ fingerprint }) => still.has(fingerprint)) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usage(`${file} cannot be read: ${errorCode(error) ?? ""}`);
  }
}
