import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import {
  builtInRules,
  type Confidence,
  confidences,
  isNamed,
  type JobSettings,
  type RuleChoice,
  unknownRules,
} from "@coffer/scan";
import type { Configuration } from "@coffer/scan/configuration";
import type { CustomRule } from "@coffer/scan/custom-rule";
import { usage } from "../failure.ts";
import { errorCode } from "../files/error-code.ts";
import { type Baseline, baselineName, readBaseline } from "./baseline.ts";
import { findRepository, type Repository } from "./git.ts";
import { globMatcher } from "./glob.ts";
import { type IgnoreEntry, readIgnoreFile } from "./ignore-file.ts";
import type { ScanCommandOptions } from "./scan-options.ts";

/**
 * Everything that a scan goes by: options, configuration, ignored findings and baseline, read and
 * checked.
 */
export interface Settings {
  repository: Repository | null;
  /** The root of the working directory's repository, else the working directory. */
  base: string;
  choice: RuleChoice;
  custom: readonly CustomRule[];
  jobs: JobSettings;
  threads: number;
  ignored: IgnoreEntry[];
  baseline: Baseline | undefined;
  /** How the summary names the baseline. */
  baselinePath: string | undefined;
  isExcluded: (path: string) => boolean;
  findingsCode: number;
}

const megabyte = 1024 * 1024;
const mostThreads = 64;

/** Reads the options and the files that they name. Throws Failure (usage). */
export async function readSettings(options: ScanCommandOptions, directory: string): Promise<Settings> {
  const repository = await findRepository(directory);
  const base = repository?.root ?? directory;
  const configuration = await configurationIn(base, options.config);
  const all = [...builtInRules, ...configuration.rules];
  const enable = [...configuration.enable, ...(options.enable ?? [])];
  const disable = [...configuration.disable, ...(options.disable ?? [])];
  const unknown = unknownRules(all, [...enable, ...disable]);
  if (unknown.length > 0) throw usage(`no such rule or kind: ${unknown.join(", ")} (coffer scan rules lists them)`);
  const minConfidence = confidenceOf(options.minConfidence) ?? configuration.minConfidence ?? "medium";
  const { baseline, baselinePath } = baselineIn(base, options.baseline);
  const ignoreText = textOf(join(base, ".cofferignore"));
  const excludes = configuration.exclude.map(globMatcher);
  return {
    repository,
    base,
    choice: { enable, disable, minConfidence },
    custom: configuration.rules.filter((rule) => !disable.some((name) => isNamed(rule, name))),
    jobs: {
      compatibleComments: options.compatComments === true,
      showSecrets: options.showSecrets === true,
      binary: options.binary === true,
      mostBytes: numberOf(options.maxFileMb, "--max-file-mb", 64, 0, 1_000_000) * megabyte,
    },
    threads: numberOf(options.threads, "--threads", Math.min(availableParallelism(), 8), 1, mostThreads),
    ignored: ignoreText === undefined ? [] : readIgnoreFile(ignoreText, new Date().toISOString().slice(0, 10)),
    baseline,
    baselinePath,
    isExcluded: (path) => excludes.some((fits) => fits(path)),
    findingsCode: numberOf(options.exitCode, "--exit-code", 1, 0, 255),
  };
}

/** The configuration that an option names, else `.coffer-scan.toml`. Throws Failure (usage). */
export async function configurationIn(base: string, named: string | undefined): Promise<Configuration> {
  const path = named === undefined ? join(base, ".coffer-scan.toml") : resolve(named);
  const text = textOf(path);
  if (text === undefined && named !== undefined) throw usage(`${named} does not exist`);
  if (text === undefined) return { enable: [], disable: [], exclude: [], rules: [] };
  const { ConfigurationProblem, readConfiguration } = await import("@coffer/scan/configuration");
  try {
    return readConfiguration(text);
  } catch (error) {
    if (!(error instanceof ConfigurationProblem)) throw error;
    throw usage(
      error.message
        .split("\n")
        .map((line) => `${named ?? ".coffer-scan.toml"}: ${line}`)
        .join("\n"),
    );
  }
}

function baselineIn(base: string, option: string | boolean | undefined): Pick<Settings, "baseline" | "baselinePath"> {
  if (option === false) return { baseline: undefined, baselinePath: undefined };
  const named = typeof option === "string" ? option : undefined;
  const text = textOf(named === undefined ? join(base, baselineName) : resolve(named));
  if (text === undefined && named !== undefined) throw usage(`${named} does not exist`);
  const baselinePath = named ?? baselineName;
  return text === undefined
    ? { baseline: undefined, baselinePath: undefined }
    : { baseline: readBaseline(text, baselinePath), baselinePath };
}

/** A file's text; undefined when there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw usage(`${path} cannot be read: ${code ?? ""}`);
  }
}

function confidenceOf(text: string | undefined): Confidence | undefined {
  return confidences.find((each) => each === text);
}

function numberOf(text: string | undefined, name: string, preset: number, least: number, most: number): number {
  if (text === undefined) return preset;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw usage(`${name} must be a whole number from ${least} to ${most}`);
}
