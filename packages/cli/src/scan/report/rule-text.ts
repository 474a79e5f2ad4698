import { builtInRules, type Finding, type Rule } from "@coffer/scan";

const rules: ReadonlyMap<string, Rule> = new Map(builtInRules.map((rule) => [rule.id, rule]));

/** A rule's finding, in words. */
export function descriptionOf({ rule_id, kind }: Pick<Finding, "rule_id" | "kind">): string {
  return rules.get(rule_id)?.description ?? kind;
}

/** Where the owner revokes a secret. */
export function revokeOf({ rule_id }: Pick<Finding, "rule_id">): string | undefined {
  const rule = rules.get(rule_id);
  return rule?.revoke ?? rule?.reference;
}

export function referenceOf({ rule_id }: Pick<Finding, "rule_id">): string | undefined {
  return rules.get(rule_id)?.reference;
}
