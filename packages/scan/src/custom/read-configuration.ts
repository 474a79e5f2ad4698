import { parse, TomlError } from "smol-toml";
import { confidences } from "../finding.ts";
import type { Confidence } from "../finding.ts";
import { builtInRules } from "../rules/index.ts";
import type { CustomRule } from "./custom-rule.ts";

/** What `.coffer-scan.toml` may say. */
export interface Configuration {
  minConfidence?: Confidence;
  enable: string[];
  disable: string[];
  /** Globs of paths that are not scanned. */
  exclude: string[];
  rules: CustomRule[];
}

/** A configuration that cannot be used. The message names every problem. */
export class ConfigurationProblem extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigurationProblem";
  }
}

type Table = Readonly<Record<string, unknown>>;

const names = new Set(["min_confidence", "enable", "disable", "exclude", "rules"]);
const ruleNames = new Set([
  ...["id", "kind", "description", "reference", "keywords", "pattern", "ignore_case", "entropy", "confidence"],
  ...["positive", "negative"],
]);
const leastKeyword = 3;

/** Reads a configuration. Throws ConfigurationProblem. */
export function readConfiguration(text: string): Configuration {
  const table = parsed(text);
  const problems = unknownNames(table, names, "");
  const rows = table["rules"] ?? [];
  const rules = Array.isArray(rows) ? rows.map((row: unknown, index) => ruleOf(row, index, problems)) : [];
  if (!Array.isArray(rows)) problems.push("rules must be tables: [[rules]]");
  const ids = [...builtInRules.map(({ id }) => id), ...rules.map(({ id }) => id)];
  for (const { id } of rules)
    if (id !== "" && ids.indexOf(id) !== ids.lastIndexOf(id))
      problems.push(`rule ${id}: there is another rule of this id`);
  const minConfidence = confidenceOf(table["min_confidence"], "min_confidence", problems);
  const configuration = {
    ...(minConfidence === undefined ? {} : { minConfidence }),
    enable: textsOf(table["enable"], "enable", problems),
    disable: textsOf(table["disable"], "disable", problems),
    exclude: textsOf(table["exclude"], "exclude", problems),
    rules,
  };
  if (problems.length > 0) throw new ConfigurationProblem(problems);
  return configuration;
}

function parsed(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigurationProblem([`is not TOML: line ${error.line}, column ${error.column}`]);
  }
}

function ruleOf(row: unknown, index: number, problems: string[]): CustomRule {
  const table = typeof row === "object" && row !== null ? ({ ...row } as Table) : {}; // checked name by name
  const id = typeof table["id"] === "string" ? table["id"] : "";
  const isId = /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id);
  const name = isId ? `rule ${id}` : `rule ${index + 1}`;
  if (!isId) problems.push(`${name}: id must be small letters, digits and hyphens`);
  problems.push(...unknownNames(table, ruleNames, `${name}: `));
  const keywords = textsOf(table["keywords"], `${name}: keywords`, problems);
  if (keywords.length === 0 || keywords.some((keyword) => keyword.length < leastKeyword))
    problems.push(
      `${name}: keywords needs at least one text of ${leastKeyword} characters that each secret contains or has near it`,
    );
  const pattern = textOf(table["pattern"], "", `${name}: pattern`, problems);
  const flags = table["ignore_case"] === true ? "gdi" : "gd";
  checkPattern(pattern, flags, name, problems);
  const entropy = table["entropy"] ?? 0;
  if (typeof entropy !== "number") problems.push(`${name}: entropy must be a number of bits per character`);
  return {
    id,
    kind: textOf(table["kind"], id, `${name}: kind`, problems),
    description: textOf(table["description"], `rule ${id} of the configuration`, `${name}: description`, problems),
    reference: textOf(table["reference"], "", `${name}: reference`, problems),
    keywords,
    pattern,
    flags,
    entropy: typeof entropy === "number" ? entropy : 0,
    confidence: confidenceOf(table["confidence"], `${name}: confidence`, problems) ?? "high",
    positive: textsOf(table["positive"], `${name}: positive`, problems),
    negative: textsOf(table["negative"], `${name}: negative`, problems),
  };
}

function checkPattern(pattern: string, flags: string, name: string, problems: string[]): void {
  if (pattern === "") problems.push(`${name}: pattern is missing`);
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    problems.push(
      `${name}: pattern is no regular expression: ${error instanceof Error ? (error.message.split(": ").at(-1) ?? "") : ""}`,
    );
  }
}

function unknownNames(table: Table, known: ReadonlySet<string>, before: string): string[] {
  return (
    Object.keys(table)
      .filter((name) => !known.has(name))
      // A file that is no configuration may hold anything: only what looks like a name is repeated.
      .map(
        (name) =>
          `${before}${/^[a-z_-]{1,24}$/.test(name) ? name : "a name"} is not known; there are ${[...known].join(", ")}`,
      )
  );
}

function textOf(value: unknown, preset: string, name: string, problems: string[]): string {
  if (value === undefined) return preset;
  if (typeof value === "string") return value;
  problems.push(`${name} must be a text`);
  return preset;
}

function textsOf(value: unknown, name: string, problems: string[]): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  problems.push(`${name} must be a list of texts`);
  return [];
}

function confidenceOf(value: unknown, name: string, problems: string[]): Confidence | undefined {
  const confidence = confidences.find((each) => each === value);
  if (value !== undefined && confidence === undefined)
    problems.push(`${name} must be one of ${confidences.join(", ")}`);
  return confidence;
}
