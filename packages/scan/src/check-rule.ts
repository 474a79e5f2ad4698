import { createEngine } from "./engine/create-engine.ts";
import { seededRandom } from "./examples/random.ts";
import { confidences } from "./finding.ts";
import type { Rule } from "./rule.ts";
import { scanPlain } from "./scan-plain.ts";

/**
 * Runs a rule on its own examples. Returns a sentence for each that it judges wrongly, without the
 * example. A positive example is found with the rule's confidence or a higher one; a negative one
 * is not found with medium or high confidence.
 */
export function checkRule(rule: Rule, rounds: number, seed: number): string[] {
  const engine = createEngine([rule]);
  const random = seededRandom(seed);
  const problems: string[] = [];
  const found = (text: string) =>
    scanPlain(engine, { bytes: Buffer.from(text, "latin1"), openStart: false, openEnd: false }, { path: "input" })
      .occurrences;
  for (let round = 0; round < rounds; round += 1) {
    rule.examples.positive(random).forEach((text, index) => {
      const occurrences = found(text);
      const least = confidences.indexOf(rule.confidence === "high" ? "medium" : rule.confidence);
      if (!occurrences.some(({ confidence }) => confidences.indexOf(confidence) >= least))
        problems.push(`${rule.id}: positive example ${index + 1} is not found (round ${round + 1})`);
      if (new Set(occurrences.map(({ fingerprint }) => fingerprint)).size > 1)
        problems.push(`${rule.id}: positive example ${index + 1} is more than one secret (round ${round + 1})`);
    });
    rule.examples.negative(random).forEach((text, index) => {
      if (found(text).some(({ confidence }) => confidence !== "low"))
        problems.push(`${rule.id}: negative example ${index + 1} is found (round ${round + 1})`);
    });
  }
  return problems;
}
