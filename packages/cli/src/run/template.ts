import { notationScheme } from "@coffer/sdk";
import { notationArgument } from "../input/notation-argument.ts";

const placeholder = new RegExp(`\\{\\{\\s*(${notationScheme}(?:(?!\\}\\}).)*?)\\s*\\}\\}`, "g");

/**
 * The notations in a template's `{{ coffer://… }}`, validated. Throws Failure (usage) with the line
 * of a malformed one.
 */
export function notationsIn(template: string): Set<string> {
  const notations = new Set<string>();
  for (const match of template.matchAll(placeholder)) {
    const [, notation = ""] = match;
    notationArgument(notation, `line ${template.slice(0, match.index).split("\n").length}`);
    notations.add(notation);
  }
  return notations;
}

/** Replaces each placeholder by its value; everything else is unchanged. */
export function fillTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(placeholder, (_whole, notation: string) => values.get(notation) ?? "");
}
