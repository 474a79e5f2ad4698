import type { Confidence } from "../finding.ts";
import type { Rule } from "../rule.ts";

/** A rule of a configuration file: data alone, so that it can be sent to a worker. */
export interface CustomRule {
  id: string;
  kind: string;
  description: string;
  reference: string;
  keywords: readonly string[];
  pattern: string;
  flags: string;
  entropy: number;
  confidence: Confidence;
  positive: readonly string[];
  negative: readonly string[];
}

/** The rule that the engine runs. */
export function customRule(rule: CustomRule): Rule {
  const { id, kind, description, reference, keywords, pattern, flags, entropy, confidence, positive, negative } = rule;
  return {
    id,
    kind,
    description,
    reference,
    keywords,
    anyCase: true,
    confidence,
    minEntropy: entropy,
    pattern: new RegExp(pattern, flags),
    window: { before: 512, after: 1024 },
    shown: /^$/,
    examples: { positive: () => [...positive], negative: () => [...negative] },
  };
}
