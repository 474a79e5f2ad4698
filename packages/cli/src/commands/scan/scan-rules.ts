import { builtInRules, type Rule } from "@coffer/scan";
import { checkRule } from "@coffer/scan/check-rule";
import { customRule } from "@coffer/scan/custom-rule";
import type { Call } from "../../command-row.ts";
import { exitCodes, Failure, usage } from "../../failure.ts";
import { print, printJson, printNotice, printTable } from "../../output/output.ts";
import { findRepository } from "../../scan/git.ts";
import { configurationIn } from "../../scan/settings.ts";
import { wholeOrIncomplete } from "./scan.ts";

interface Options {
  config?: string;
  json?: boolean;
}

const rounds = 10;

/** `coffer scan rules [list|check|explain <id>]`. */
export async function scanRules({ args: [action = "list", id], options }: Call<Options>): Promise<void> {
  await wholeOrIncomplete(async () => {
    const repository = await findRepository(process.cwd());
    const { rules: custom } = await configurationIn(repository?.root ?? process.cwd(), options.config);
    const rules = [...builtInRules, ...custom.map(customRule)];
    if (action === "list" && id === undefined) list(rules, options);
    else if (action === "check" && id === undefined) check(rules, options);
    else if (action === "explain" && id !== undefined) explain(rules, id, options);
    else throw usage("coffer scan rules list, check, or explain <id>");
  });
}

const described = ({ id, kind, description, confidence, reference, revoke, optIn, hasChecksum }: Rule) => ({
  id,
  kind,
  description,
  confidence,
  checksum: hasChecksum === true,
  on: optIn !== true,
  reference,
  revoke: revoke ?? reference,
});

function list(rules: readonly Rule[], { json }: Options): void {
  const rows = rules.map(described);
  if (json === true) printJson(rows);
  else
    printTable(
      ["RULE", "KIND", "CONFIDENCE", "DESCRIPTION"],
      rows.map(({ id, kind, confidence, on, description }) => [id, kind, on ? confidence : "off", description]),
    );
}

/** Runs every rule on its examples. Exit 1 when one judges wrongly. */
function check(rules: readonly Rule[], { json }: Options): void {
  const problems = rules.flatMap((rule) => checkRule(rule, rounds, 1));
  if (json === true) printJson({ rules: rules.length, problems });
  else for (const problem of problems) print(problem);
  printNotice(`coffer: ${rules.length} rules checked, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = exitCodes.failure;
}

function explain(rules: readonly Rule[], id: string, { json }: Options): void {
  const rule = rules.find((each) => each.id === id);
  if (rule === undefined) throw new Failure(exitCodes.usage, `no such rule: ${id} (coffer scan rules lists them)`);
  const shown = { ...described(rule), keywords: rule.keywords, pattern: rule.pattern?.source ?? null };
  if (json === true) {
    printJson(shown);
    return;
  }
  print(`${shown.id}: ${shown.description} (${shown.kind})`);
  print(`confidence  ${shown.confidence}${shown.checksum ? ", decided by the checksum inside" : ""}`);
  print(`runs        ${shown.on ? "by default" : `with --enable ${id}`}`);
  print(`keywords    ${shown.keywords.join(", ")}`);
  print(`pattern     ${shown.pattern ?? "none: the text is read step by step"}`);
  print(`reference   ${shown.reference}`);
  print(`revoke      ${shown.revoke}`);
}
