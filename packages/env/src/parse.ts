import { type Parse, ValueProblem } from "./variable.ts";

/** A whole number in decimal digits from `least` to `greatest`, both included. */
export function wholeNumber(least: number, greatest: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (!(value >= least && value <= greatest))
      throw new ValueProblem(`must be a whole number from ${least} to ${greatest}`);
    return value;
  };
}

/** One of the given words, exactly. */
export function oneOf<const Word extends string>(...words: Word[]): Parse<Word> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new ValueProblem(`must be one of ${words.join(", ")}`);
    return word;
  };
}

/** Any text without control characters, of at least `least` characters. */
export function line(least = 1): Parse<string> {
  return (text) => {
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u001f\u007f]/.test(text)) throw new ValueProblem("must be one line without control characters");
    if (text.length < least) throw new ValueProblem(`must have at least ${least} characters`);
    return text;
  };
}

/**
 * A comma list. Blanks around items are dropped, empty items are refused, duplicates are removed.
 */
export function listOf(item: Parse<string>): Parse<string[]> {
  return (text) => {
    const items = text.split(",").map((part) => part.trim());
    if (items.includes("")) throw new ValueProblem("must be a comma list without empty items");
    return [...new Set(items.map((part) => item(part)))];
  };
}

/** JSON as an object (neither array nor null). */
export function jsonObject(text: string): Record<string, unknown> {
  const problem = "must be a JSON object";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ValueProblem(problem);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ValueProblem(problem);
  return { ...value };
}
