import type { Secret } from "@coffer/sdk";
import { usage } from "./failure.ts";

/**
 * Every field of these secrets as a variable: `DATABASE_PASSWORD` for the field `password` of `database`.
 * Throws Failure (usage) when two fields would be one variable.
 */
export function folderVariables(secrets: readonly Secret[]): Map<string, string> {
  const variables = new Map<string, string>();
  for (const { title, fields } of secrets)
    for (const [field, value] of Object.entries(fields)) {
      const name = variableName(`${title}_${field}`);
      if (variables.has(name)) throw usage(`two fields would be ${name}: set the variables one by one instead`);
      variables.set(name, value);
    }
  return new Map([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Upper case, with `_` for what a variable's name cannot hold, and before a digit at its start. */
function variableName(text: string): string {
  return text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
}
