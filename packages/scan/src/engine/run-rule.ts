import { isDocumented } from "../checks/documented.ts";
import { entropy } from "../checks/entropy.ts";
import { isPlaceholder } from "../checks/placeholder.ts";
import type { Checksum, Confidence } from "../finding.ts";
import type { Candidate, Found, Rule, Verdict } from "../rule.ts";

/** A secret in a text, by byte offsets. */
export interface Detection {
  rule: Rule;
  start: number;
  end: number;
  secret: string;
  confidence: Confidence;
  checksum: Checksum;
  accountId: string | undefined;
  identity: Uint8Array | undefined;
  reportAs: string | undefined;
  /** How many encodings the secret was inside. */
  depth: number;
}

/** A text, and whether it was cut out of a longer one whose neighbouring bytes are not known. */
export interface Cut {
  bytes: Buffer;
  openStart: boolean;
  openEnd: boolean;
}

/** Runs one rule on one window of a text. */
export function runRule(rule: Rule, cut: Cut, from: number, to: number, into: Detection[]): void {
  const { bytes } = cut;
  if (rule.requires !== undefined && !hasBetween(bytes, rule.requires, from, to)) return;
  const text = bytes.toString("latin1", from, to);
  for (const { start, end, groups = {} } of rule.find?.(text) ?? matches(rule.pattern, text)) {
    // A match at an edge that is not the text's own may continue on the other side.
    if (start === 0 && (from > 0 || cut.openStart)) continue;
    if (end === text.length && (to < bytes.length || cut.openEnd)) continue;
    const secret = text.slice(start, end);
    const candidate: Candidate = {
      secret,
      groups,
      before: (count) => bytes.toString("latin1", Math.max(0, from + start - count), from + start),
      after: (count) => bytes.toString("latin1", from + end, Math.min(bytes.length, from + end + count)),
    };
    const verdict = judge(rule, candidate);
    if (verdict === null) continue;
    into.push({
      rule,
      start: from + start,
      end: from + end,
      secret,
      confidence: verdict.confidence,
      checksum: verdict.checksum ?? "none",
      accountId: verdict.accountId,
      identity: verdict.identity,
      reportAs: verdict.reportAs,
      depth: 0,
    });
  }
}

/** The part of the secret that is public: the prefix that its kind shares. */
export function shownPrefix(rule: Rule, secret: string): string {
  if (rule.shown !== undefined) return rule.shown.exec(secret)?.[0] ?? "";
  const starts = rule.keywords.filter((keyword) => secret.startsWith(keyword));
  return starts.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
}

/** A key of OpenAPI or JSON Schema whose value is made for the documentation. */
const exampleKey = /(?:^|[\s"'{,])examples?["']?[ \t]{0,4}:[ \t\r\n-]{0,40}["']?$/i;
const exampleKeyReach = 64;

function judge(rule: Rule, candidate: Candidate): Verdict | null {
  const { secret } = candidate;
  // A text without a recognizable form is known by its name alone, and the name says that it is an example.
  if (rule.contextOnly === true && exampleKey.test(candidate.before(exampleKeyReach))) return null;
  const verdict: Verdict | null = rule.check === undefined ? { confidence: rule.confidence } : rule.check(candidate);
  if (verdict === null || isDocumented(secret)) return null;
  if (verdict.checksum === "valid" || verdict.identity !== undefined) return verdict;
  const body = secret.slice(shownPrefix(rule, secret).length);
  if (isPlaceholder(body)) return null;
  return rule.minEntropy !== undefined && entropy(body) < rule.minEntropy ? null : verdict;
}

function hasBetween(bytes: Buffer, text: string, from: number, to: number): boolean {
  return bytes.subarray(from, to).includes(text, 0, "latin1");
}

function matches(pattern: RegExp | undefined, text: string): Found[] {
  const found: Found[] = [];
  if (pattern === undefined) return found;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [start, end] = match.indices?.groups?.["secret"] ?? [match.index, match.index + match[0].length];
    found.push({ start, end, groups: match.groups ?? {} });
    if (pattern.lastIndex === match.index) pattern.lastIndex += 1;
  }
  return found;
}
