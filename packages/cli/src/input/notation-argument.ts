import { type Notation, parseNotation, parseSecretNotation } from "@coffer/sdk";
import { usage } from "../failure.ts";

/**
 * Parses a notation that a person wrote. Throws Failure (usage), prefixed with `where` if it is
 * given.
 */
export function notationArgument(text: string, where?: string): Notation {
  return understood(() => parseNotation(text), where);
}

/** Parses the name of a secret, or of one of its fields. Throws Failure (usage). */
export function secretNotationArgument(text: string): ReturnType<typeof parseSecretNotation> {
  return understood(() => parseSecretNotation(text));
}

function understood<T>(parse: () => T, where?: string): T {
  try {
    return parse();
  } catch (error) {
    const message = (error as Error).message;
    throw usage(where === undefined ? message : `${where}: ${message}`);
  }
}
