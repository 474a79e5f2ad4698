import { buffer } from "node:stream/consumers";
import type { Call } from "../../command-row.ts";
import { Failure, usage } from "../../failure.ts";
import { stdinIsTerminal } from "../../input/stdin-is-terminal.ts";
import { cannotScan, scanExitCodes } from "../../scan/exit-codes.ts";
import type { Input } from "../../scan/input.ts";
import { reportIn } from "../../scan/report/formats.ts";
import type { Report } from "../../scan/report/report.ts";
import { runScan } from "../../scan/run-scan.ts";
import type { ScanCommandOptions } from "../../scan/scan-options.ts";
import { readSettings, type Settings } from "../../scan/settings.ts";
import { tellSummary } from "../../scan/summary.ts";

/** `coffer scan`: finds credentials in files, commits and diffs. Reads no profile and asks no service. */
export async function scan({ args, options }: Call<ScanCommandOptions>): Promise<void> {
  await wholeOrIncomplete(async () => {
    const settings = await readSettings(options, process.cwd());
    const input = await inputOf(args, options, settings);
    const report = await runScan(input, settings);
    process.stdout.write(await reportIn(options.format ?? "text", report));
    tellSummary(report, settings, input);
    process.exitCode = exitCodeOf(report, settings.findingsCode);
  });
}

/** Incomplete goes before findings: a hook must not take a scan that saw half for one that saw all. */
export function exitCodeOf({ problems, findings }: Report, findingsCode: number): number {
  if (problems.length > 0) return scanExitCodes.incomplete;
  return findings.length > 0 ? findingsCode : scanExitCodes.clean;
}

/** An unexpected error makes the scan incomplete: the exit code must not say that there are findings. */
export async function wholeOrIncomplete(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw cannotScan(`the scan failed: ${error instanceof Error ? error.message : "for no known reason"}`);
  }
}

/** What the options say is to be scanned. Throws Failure (usage) when they contradict each other. */
export async function inputOf(
  args: readonly string[],
  options: ScanCommandOptions,
  settings: Settings,
): Promise<Input & { sizes?: number[] }> {
  const { repository, isExcluded } = settings;
  const modes = [options.staged, options.range !== undefined, options.history, options.diff, options.stdin];
  if (modes.filter((mode) => mode === true).length > 1)
    throw usage("only one of --staged, --range, --history, --diff and --stdin");
  if (args.length > 0 && modes.includes(true))
    throw usage("paths go with none of --staged, --range, --history, --diff and --stdin");
  if (options.path !== undefined && options.stdin !== true) throw usage("--path needs --stdin");
  if (options.reflog === true && options.history !== true) throw usage("--reflog needs --history");
  // Loads the one that is wanted: a hook waits for it at each commit.
  if (options.staged === true) return (await import("../../scan/staged-input.ts")).stagedInput(repository, isExcluded);
  if (options.range !== undefined)
    return (await import("../../scan/commit-input.ts")).rangeInput(repository, options.range, isExcluded);
  if (options.history === true)
    return (await import("../../scan/commit-input.ts")).historyInput(repository, options.reflog === true, isExcluded);
  if (options.diff === true)
    return (await import("../../scan/diff-input.ts")).diffInput(await allOfStdin(), isExcluded);
  if (options.stdin === true) return stdinInput(await allOfStdin(), options.path ?? "stdin");
  return (await import("../../scan/path-input.ts")).pathInput(args, {
    base: settings.base,
    gitIgnore: options.gitIgnore !== false,
    mostBytes: settings.jobs.mostBytes,
    isExcluded,
  });
}

function stdinInput(bytes: Buffer, path: string): Input {
  return {
    jobs: [{ source: { from: "bytes", bytes }, path, pathBelow: path }],
    small: true,
    problems: [],
    whole: false,
  };
}

async function allOfStdin(): Promise<Buffer> {
  if (stdinIsTerminal()) throw usage("nothing on stdin: give it a pipe or a file");
  return buffer(process.stdin);
}
