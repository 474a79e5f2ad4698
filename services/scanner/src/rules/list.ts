import { builtInRules } from "@coffer/scan";

/** A rule as callers see it. */
export interface RuleView {
  id: string;
  kind: string;
  description: string;
  confidence: "high" | "medium" | "low";
  /** Secrets of this kind have a checksum inside. */
  checksum: boolean;
  /** Whether scans of this service use the rule. */
  on: boolean;
  reference: string;
  revoke: string;
}

const rules: readonly RuleView[] = builtInRules.map((rule) => ({
  id: rule.id,
  kind: rule.kind,
  description: rule.description,
  confidence: rule.confidence,
  checksum: rule.hasChecksum === true,
  on: rule.optIn !== true && rule.confidence !== "low",
  reference: rule.reference,
  revoke: rule.revoke ?? rule.reference,
}));

/** GET /api/scanner/rules */
export function listRules(): Promise<{ data: readonly RuleView[] }> {
  return Promise.resolve({ data: rules });
}
