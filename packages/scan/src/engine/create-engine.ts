import { gzipInBase64 } from "../decode/base64.ts";
import { escapeKeywords } from "../decode/escapes.ts";
import type { Rule } from "../rule.ts";
import { buildPairFilter } from "./pair-filter.ts";
import type { PairFilter, SearchState, Sought } from "./pair-filter.ts";

/**
 * What a keyword leads to: the window of a rule, a region with escapes, an encoded text, or a
 * comment that allows a finding.
 */
export type Target =
  { kind: "rule"; rule: number } | { kind: "escapes" } | { kind: "encoded" } | { kind: "marker"; marker: Marker };

export type Marker = "coffer" | "compatible";

export interface Keyword extends Sought {
  readonly targets: Target[];
}

/** Rules that were made ready for searching. Holds buffers of its own: one search at a time. */
export interface Engine {
  readonly rules: readonly Rule[];
  readonly filter: PairFilter;
  readonly keywords: readonly Keyword[];
  /** The part of a text that is searched now, as bytes and as little-endian words, with zeros behind it. */
  readonly part: { readonly bytes: Uint8Array; readonly words: Int32Array };
  readonly state: SearchState;
  /** The windows of the present search by rule. All are undefined between searches. */
  readonly ranges: (number[] | undefined)[];
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
/** How many bytes are searched at once: they stay in the processor's first cache. A multiple of 4. */
export const partSize = 16_384;

/** Makes rules ready for searching. Rules whose `optIn` is set are run like the others. */
export function createEngine(rules: readonly Rule[]): Engine {
  const byName = new Map<string, Keyword>();
  const add = (text: string, anyCase: boolean, target: Target): void => {
    const name = anyCase ? `any ${text.toLowerCase()}` : `exact ${text}`;
    const keyword: Keyword = byName.get(name) ?? { bytes: Buffer.from(text, "latin1"), anyCase, targets: [] };
    keyword.targets.push(target);
    byName.set(name, keyword);
  };
  rules.forEach((rule, index) => {
    for (const text of rule.keywords) add(text, rule.anyCase === true, { kind: "rule", rule: index });
  });
  for (const text of escapeKeywords) add(text, false, { kind: "escapes" });
  for (const [text, marker] of markers) add(text, true, { kind: "marker", marker });
  add(gzipInBase64, false, { kind: "encoded" });
  const keywords = [...byName.values()];
  const bytes = new Uint8Array(partSize + 8);
  return {
    rules,
    filter: buildPairFilter(keywords),
    keywords,
    part: { bytes, words: new Int32Array(bytes.buffer) },
    state: {
      hits: new Int32Array(partSize / 2 + 4),
      hitCount: 0,
      runs: new Int32Array(partSize / 4 + 2),
      runCount: 0,
      previous: 0,
      encoded: 0,
    },
    ranges: rules.map(() => undefined),
    onRule: () => undefined,
  };
}
