import { slugOf } from "./engine/allowed.ts";
import type { Confidence } from "./finding.ts";
import type { Rule } from "./rule.ts";

/** The names of a rule. */
type Named = Pick<Rule, "id" | "kind">;

export interface RuleChoice {
  /** Ids or kinds that run although they are off by default. */
  enable?: readonly string[];
  /** Ids or kinds that do not run. */
  disable?: readonly string[];
  minConfidence: Confidence;
}

/** The rules that run. Those that can only report less than the wanted confidence are left out. */
export function selectRules(rules: readonly Rule[], { enable = [], disable = [], minConfidence }: RuleChoice): Rule[] {
  return rules.filter((rule) => {
    if (disable.some((name) => isNamed(rule, name))) return false;
    if (rule.optIn === true && !enable.some((name) => isNamed(rule, name))) return false;
    return rule.confidence !== "low" || minConfidence === "low";
  });
}

/** Names that fit no rule. */
export function unknownRules(rules: readonly Named[], names: readonly string[]): string[] {
  return names.filter((name) => !rules.some((rule) => isNamed(rule, name)));
}

/** Whether a name is the id of a rule or its kind, with hyphens for blanks. */
export function isNamed(rule: Named, name: string): boolean {
  return rule.id === name || slugOf(rule.kind) === slugOf(name);
}
