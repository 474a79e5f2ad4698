import { parseNotation, parseSecretNotation } from "@coffer/sdk";
import type { Notation } from "@coffer/sdk";
import { usage } from "./failure.ts";

/** Reads a notation that a person wrote. Throws Failure (usage), beginning with `where` when it is given. */
export function notationArgument(text: string, where?: string): Notation {
  return understood(() => parseNotation(text), where);
}

/** Reads what names a secret, or one field of it. Throws Failure (usage). */
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
