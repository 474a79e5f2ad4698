import { notationScheme } from "@coffer/sdk";
import { notationArgument } from "./notation-argument.ts";

const placeholder = new RegExp(`\\{\\{\\s*(${notationScheme}(?:(?!\\}\\}).)*?)\\s*\\}\\}`, "g");

/** The notations in a template's `{{ coffer://… }}`, checked. Throws Failure (usage) with the line of a wrong one. */
export function notationsIn(template: string): Set<string> {
  const notations = new Set<string>();
  for (const match of template.matchAll(placeholder)) {
    const [, notation = ""] = match;
    notationArgument(notation, `line ${template.slice(0, match.index).split("\n").length}`);
    notations.add(notation);
  }
  return notations;
}

/** The template with each placeholder replaced by its value; everything else byte for byte. */
export function fillTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(placeholder, (_whole, notation: string) => values.get(notation) ?? "");
}
