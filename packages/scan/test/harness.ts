import { builtInRules, createEngine, scanBytes, selectRules } from "../src/index.ts";
import type { BytesOptions, Engine, Occurrence, Rule } from "../src/index.ts";
import { seededRandom } from "../src/examples/random.ts";

/** All rules that are on by default, at every confidence. */
export const engine: Engine = createEngine(selectRules(builtInRules, { minConfidence: "low" }));

export function ruleOf(id: string): Rule {
  const rule = builtInRules.find((each) => each.id === id);
  if (rule === undefined) throw new Error(`no rule ${id}`);
  return rule;
}

/** The first positive example of a rule, made for this seed. */
export function exampleOf(id: string, seed = 1): string {
  const [text] = ruleOf(id).examples.positive(seededRandom(seed));
  if (text === undefined) throw new Error(`${id} has no example`);
  return text;
}

export async function scan(input: string | Buffer, options: Partial<BytesOptions> = {}): Promise<Occurrence[]> {
  const bytes = typeof input === "string" ? Buffer.from(input) : input;
  return (await scanBytes(engine, bytes, { path: "input", showSecrets: true, ...options })).occurrences;
}

/** What identifies an occurrence in its text. */
export function summary({ rule_id, location, secret }: Occurrence): string {
  const { start_line, start_column, end_line, end_column } = location;
  return `${rule_id} ${secret ?? ""} ${start_line}:${start_column}-${end_line}:${end_column}`;
}
