import { isPlaceholder } from "../checks/placeholder.ts";
import { isWords } from "../checks/words.ts";
import type { Random } from "../examples/random.ts";
import type { Candidate, Found, Rule, Verdict } from "../rule.ts";

/** A stretch of characters of one alphabet. */
export interface Body {
  /** As in a character class of a pattern. */
  readonly characters: string;
  readonly least: number;
  readonly most: number;
}

/** A literal text, or a stretch of characters. */
export type Part = string | Body;

const body =
  (characters: string) =>
  (least: number, most = least): Body => ({ characters, least, most });

export const base62 = body("A-Za-z0-9");
export const base64Url = body("A-Za-z0-9_-");
export const base64 = body("A-Za-z0-9+/");
export const lowerHex = body("0-9a-f");
export const anyHex = body("0-9a-fA-F");
export const digits = body("0-9");
export const lowerBase36 = body("a-z0-9");
export const upperBase36 = body("A-Z0-9");
export const base32 = body("A-Z2-7");
export const ofCharacters = (characters: string, least: number, most = least): Body => body(characters)(least, most);

/** A UUID in small letters. */
export const uuid: readonly Part[] = [
  lowerHex(8),
  "-",
  lowerHex(4),
  "-",
  lowerHex(4),
  "-",
  lowerHex(4),
  "-",
  lowerHex(12),
];

/**
 * Where a token may begin: behind no letter or digit, unless that is the end of an escape such as
 * `\n` or of a terminal's colour.
 */
export const leftEdge = "(?:(?<![A-Za-z0-9])|(?<=\\\\[nrtbfv])|(?<=\\[[0-9;]{1,8}m))";

interface TokenRow extends Pick<Rule, "id" | "kind" | "description" | "reference"> {
  shape: readonly Part[];
  revoke?: string;
  /** The default is the first literal of the shape. */
  keywords?: readonly string[];
  /** The default is high. */
  confidence?: Rule["confidence"];
  minEntropy?: number;
  check?: (candidate: Candidate) => Verdict | null;
  hasChecksum?: boolean;
  shown?: RegExp;
  window?: { before: number; after: number };
  yields?: boolean;
  /** Makes the random text of a shape a whole token, for instance by its checksum. */
  seal?: (text: string, random: Random) => string;
  /** Text to the left without which the rule does not hold, for examples. */
  context?: string;
}

/** A rule for tokens that are known by their form alone. The shape gives the pattern and the examples. */
export function tokenRule(row: TokenRow): Rule {
  const { shape, seal = (text: string) => text, context = "", confidence = "high", keywords, ...rest } = row;
  const first = shape.find((part) => typeof part === "string");
  const { check = () => ({ confidence }) } = row;
  let pattern: RegExp | undefined;
  return {
    ...rest,
    check: (candidate) => (isWords(candidate.secret.slice(first?.length ?? 0)) ? null : check(candidate)),
    keywords: keywords ?? [first ?? ""],
    confidence,
    // Most texts need few of the patterns.
    get pattern() {
      return (pattern ??= patternOf(shape));
    },
    ...(isWide(shape) ? { find: wideFinder(shape) } : {}),
    examples: {
      positive: (random) => [`${context}${seal(exampleOf(shape, random), random)}`],
      negative: (random) =>
        nearMisses(shape, seal(exampleOf(shape, random), random), random).map((each) => context + each),
    },
  };
}

const wide = 64;

/**
 * Whether a shape is a literal text and then a stretch of very different lengths, which ends where
 * its characters end.
 */
function isWide(shape: readonly Part[]): shape is readonly [string, Body, ...Part[]] {
  const [prefix, stretch, next] = shape;
  if (typeof prefix !== "string" || typeof stretch !== "object" || stretch.most - stretch.least < wide) return false;
  return next === undefined || (typeof next === "string" && !alphabetOf(stretch.characters).includes(next.charAt(0)));
}

/**
 * Finds what the pattern of a wide shape finds, without the backtracking: the pattern runs only
 * where the stretch behind the prefix ends in time. Where prefixes follow each other, one look at
 * the stretch serves all of them.
 */
function wideFinder(shape: readonly [string, Body, ...Part[]]): (text: string) => Found[] {
  const [prefix, { characters, least, most }] = shape;
  const outside = new RegExp(`[^${characters}]`, "g");
  let pattern: RegExp | undefined;
  return (text) => {
    const found: Found[] = [];
    let [done, end] = [0, -1];
    for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) {
      const start = at + prefix.length;
      if (start > end) {
        outside.lastIndex = start;
        end = outside.exec(text)?.index ?? text.length;
      }
      if (at < done || end - start < least || end - start > most) continue;
      pattern ??= new RegExp(patternOf(shape).source, "y");
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) continue;
      done = at + match[0].length;
      found.push({ start: at, end: done });
    }
    return found;
  };
}

/** The pattern of a shape between its edges. */
export function patternOf(shape: readonly Part[]): RegExp {
  const last = shape.at(-1);
  const rightEdge = `(?![${typeof last === "object" ? `A-Za-z0-9${/[_-]$/.test(last.characters) ? "_-" : ""}` : "A-Za-z0-9"}])`;
  const first = shape[0];
  const edge = typeof first === "string" && !/^[A-Za-z0-9]/.test(first) ? "" : leftEdge;
  return new RegExp(`${edge}(?<secret>${shape.map(sourceOf).join("")})${rightEdge}`, "gd");
}

function sourceOf(part: Part): string {
  if (typeof part === "string") return part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return `[${part.characters}]{${part.least === part.most ? part.least : `${part.least},${part.most}`}}`;
}

/** A random text of a shape. */
export function exampleOf(shape: readonly Part[], random: Random): string {
  for (;;) {
    const text = shape.map((part) => (typeof part === "string" ? part : someOf(part, random))).join("");
    const variable = shape.map((part) => (typeof part === "string" ? "" : part.characters)).join("");
    if (variable === "" || !isPlaceholder(text)) return text;
  }
}

function someOf({ characters, least, most }: Body, random: Random): string {
  const alphabet = alphabetOf(characters);
  const length = least + random.below(most - least + 1);
  const text = random.text(alphabet, length);
  // An end of hyphens or underscores is no edge.
  return `${text.slice(0, -1)}${random.text(alphabetOf(characters.replace(/[_+/-]{1,2}$/, "")), Math.min(1, length))}`;
}

function alphabetOf(characters: string): string {
  return characters.replace(/(\w)-(\w)/g, (_all, from: string, to: string) => {
    const start = from.charCodeAt(0);
    return Array.from({ length: to.charCodeAt(0) - start + 1 }, (_, index) => String.fromCharCode(start + index)).join(
      "",
    );
  });
}

/**
 * Texts that differ from a token by little: too short, glued to other text, or with a body that
 * stands for another.
 */
function nearMisses(shape: readonly Part[], token: string, random: Random): string[] {
  const last = shape.at(-1);
  const first = shape[0];
  const long = shape.reduce<Body | undefined>(
    (longest, part) =>
      typeof part === "object" && part.least > (longest?.least ?? 11) && /[xX]|a-z|A-Z/.test(part.characters)
        ? part
        : longest,
    undefined,
  );
  return [
    ...(typeof last === "object"
      ? [exampleOf([...shape.slice(0, -1), { ...last, least: last.least - 1, most: last.least - 1 }], random)]
      : []),
    ...(typeof first === "string" && /^[A-Za-z0-9]/.test(first) ? [`q${token}`] : []),
    ...(typeof last === "object" && last.least === last.most ? [`${token}${random.text("abcdef", 1)}`] : []),
    ...(long === undefined
      ? []
      : [shape.map((part) => (typeof part === "string" ? part : "x".repeat(part.least))).join("")]),
  ];
}
