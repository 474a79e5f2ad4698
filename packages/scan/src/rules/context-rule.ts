import type { Rule } from "../rule.ts";
import type { Part } from "./shape.ts";
import { exampleOf, patternOf } from "./shape.ts";

interface ContextRow extends Pick<Rule, "id" | "kind" | "description" | "reference" | "revoke"> {
  /** Words of which one stands to the left of the secret, in the same or the line before. */
  names: readonly string[];
  /** What else the text to the left must contain. */
  named?: RegExp;
  shape: readonly Part[];
  minEntropy: number;
  confidence?: Rule["confidence"];
}

const reach = 80;

/** A rule for secrets without a form of their own, which a name to their left makes known. */
export function contextRule({ names, named = /./, shape, confidence = "medium", ...row }: ContextRow): Rule {
  const word = new RegExp(`(?:${names.join("|")})[^\\n]{0,${reach}}(?:\\n[^\\n]{0,20})?$`, "i");
  const last = /["'`:=>, (]$/;
  const name = names[0] ?? "";
  return {
    ...row,
    confidence,
    keywords: names,
    anyCase: true,
    contextOnly: true,
    yields: true,
    window: { before: 16, after: 280 },
    pattern: patternOf(shape),
    check: ({ before }) => {
      const left = before(reach + 24);
      return last.test(left) && word.test(left) && named.test(left) ? { confidence } : null;
    },
    examples: {
      positive: (random) => [`${name.toUpperCase()}_API_KEY="${exampleOf(shape, random)}"`],
      negative: (random) => [
        `CHECKSUM="${exampleOf(shape, random)}"`,
        `${name.toUpperCase()}_API_KEY="${exampleOf(shape, random).slice(4)}"`,
        `${name.toUpperCase()}_API_KEY="\${${name.toUpperCase()}_API_KEY}"`,
      ],
    },
  };
}
