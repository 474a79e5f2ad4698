import { notationScheme, parseNotation, type SecretsClient } from "@coffer/sdk";
import { usage } from "../failure.ts";
import { notationArgument } from "../input/notation-argument.ts";

/**
 * The variables whose whole value is a notation, validated. Throws Failure (usage) with the
 * variable of a malformed one.
 */
export function referencesIn(variables: NodeJS.ProcessEnv): Map<string, string> {
  const references = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    if (value?.startsWith(notationScheme) !== true) continue;
    notationArgument(value, name);
    references.set(name, value);
  }
  return references;
}

/** The folders that notations name. */
export function foldersOf(notations: Iterable<string>): string[] {
  return Array.from(notations, (notation) => parseNotation(notation).folder);
}

/**
 * The values of references, by variable, from one list of secrets. Calls `secrets` only when there
 * are references. Throws Failure (usage) for a value that no variable can hold.
 */
export async function resolveReferences(
  references: ReadonlyMap<string, string>,
  secrets: () => Promise<SecretsClient>,
): Promise<Map<string, string>> {
  if (references.size === 0) return new Map();
  const values = await (await secrets()).readAll(references.values());
  const resolved = [...references].map(([name, notation]) => [name, values.get(notation) ?? ""] as const);
  for (const [name, value] of resolved) {
    if (value.includes("\0"))
      throw usage(`${name}: its value holds a NUL byte, which no variable can; use \`coffer read\``);
  }
  return new Map(resolved);
}
