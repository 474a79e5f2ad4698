import type { Rule } from "../rule.ts";
import { isWords } from "../checks/words.ts";
import type { Part } from "./shape.ts";
import { exampleOf, patternOf } from "./shape.ts";

interface ContextRow extends Pick<Rule, "id" | "kind" | "description" | "reference" | "revoke"> {
  /** Words of which one stands to the left of the secret, in the same or the line before. */
  names: readonly string[];
  /** What else the text to the left must contain. */
  named?: RegExp;
  /**
   * What the text to the right may contain in place of a name to the left: a vendor's address
   * behind its key.
   */
  behind?: RegExp;
  shape: readonly Part[];
  minEntropy: number;
  confidence?: Rule["confidence"];
}

const reach = 80;

/**
 * What may stand between a name and its value on a later line: a short line, or the keys with which
 * Terraform, Kubernetes and CloudFormation write a value below its name.
 */
export const laterLine = String.raw`(?:\n[^\n]{0,20}|(?:\n[ \t+-]{0,60}"?(?:type|description|nullable|sensitive|noecho)[^\n]{0,80}){0,3}\n[ \t+-]{0,60}"?(?:value|default(?:value)?)"?[ \t]{0,8}[:=][ \t]{0,8}["']?)?$`;
/** The longest text that `laterLine` can match, with a name and what stands behind it. */
export const contextLength = 512;

/** How far to the left of its name the rest of a longer name is read. */
const besideName = 24;
const behindLength = 80;

/** A rule for secrets without a recognizable form, which a name to their left makes known. */
export function contextRule({ names, named = /./, behind, shape, confidence = "medium", ...row }: ContextRow): Rule {
  const word = new RegExp(`(?:${names.map(escaped).join("|")})[^\\n]{0,${reach}}${laterLine}`, "i");
  // Characters beyond ASCII are typographic quotes, no-break blanks and the text of other scripts.
  const last = /(?:["'`:=>, (\t\x80-\xff]|&(?:quot|apos|#34|#39);)$/;
  const name = names[0] ?? "";
  return {
    ...row,
    confidence,
    keywords: names,
    anyCase: true,
    contextOnly: true,
    yields: true,
    window: { before: behind === undefined ? 16 : 160, after: 280 },
    pattern: patternOf(shape),
    check: ({ secret, before, after }) => {
      if (isWords(secret)) return null;
      if (behind?.test(after(behindLength)) === true) return { confidence };
      const left = before(contextLength);
      const name = last.test(left) ? word.exec(left) : null;
      return name !== null && named.test(left.slice(Math.max(0, name.index - besideName))) ? { confidence } : null;
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

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
