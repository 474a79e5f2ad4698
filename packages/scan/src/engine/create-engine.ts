import type { Rule } from "../rule.ts";
import type { Automaton, Half } from "./automaton.ts";
import { buildAutomaton } from "./automaton.ts";
import { escapeKeywords } from "../decode/escapes.ts";
import { leastRun } from "../decode/runs.ts";

/** What a keyword leads to: the window of a rule, a region with escapes, or a comment that allows a finding. */
export type Target = { kind: "rule"; rule: number } | { kind: "escapes" } | { kind: "marker"; marker: Marker };

export type Marker = "coffer" | "compatible";

export interface Keyword {
  length: number;
  /** The keyword as it must stand; null when upper and lower case are one. */
  exact: Uint8Array | null;
  targets: Target[];
}

/** Rules that were made ready for searching. Holds a buffer of its own: one search at a time. */
export interface Engine {
  readonly rules: readonly Rule[];
  readonly automaton: Automaton;
  readonly keywords: readonly Keyword[];
  /** The length of the longest keyword, and of the least run of base64. */
  readonly overlap: number;
  readonly halves: readonly [Half, Half];
  /** Is called before a rule is run, with its index: the kill timer of custom rules reads it. */
  onRule: (index: number) => void;
}

const markers: readonly (readonly [string, Marker])[] = [
  ["coffer:allow", "coffer"],
  ["gitleaks:allow", "compatible"],
  ["trufflehog:ignore", "compatible"],
  ["pragma: allowlist secret", "compatible"],
  ["pragma: allowlist nextline secret", "compatible"],
];
/** How many bytes are searched at once. */
export const stretch = 32_768;

function newHalf(): Half {
  return { hits: new Uint32Array(stretch + 2), hitCount: 0, runs: new Uint32Array(stretch / leastRun), runCount: 0 };
}

/** Makes rules ready for searching. Rules whose `optIn` is set are run like the others. */
export function createEngine(rules: readonly Rule[]): Engine {
  const keywords = new Map<string, Keyword>();
  const add = (text: string, anyCase: boolean, target: Target): void => {
    const name = anyCase ? `any ${text.toLowerCase()}` : `exact ${text}`;
    const exact = anyCase ? null : Buffer.from(text, "latin1");
    const keyword: Keyword = keywords.get(name) ?? { length: text.length, exact, targets: [] };
    keyword.targets.push(target);
    keywords.set(name, keyword);
  };
  rules.forEach((rule, index) => {
    for (const text of rule.keywords) add(text, rule.anyCase === true, { kind: "rule", rule: index });
  });
  for (const text of escapeKeywords) add(text, false, { kind: "escapes" });
  for (const [text, marker] of markers) add(text, true, { kind: "marker", marker });
  return {
    rules,
    automaton: buildAutomaton([...keywords.keys()].map((name) => name.slice(name.indexOf(" ") + 1))),
    keywords: [...keywords.values()],
    overlap: Math.max(leastRun, ...[...keywords.values()].map(({ length }) => length)),
    halves: [newHalf(), newHalf()],
    onRule: () => undefined,
  };
}
