import { parseNotation } from "@coffer/sdk";
import type { Notation } from "@coffer/sdk";
import { usage } from "./failure.ts";

/** Reads a notation that a person wrote. Throws Failure (usage), beginning with `where` when it is given. */
export function notationArgument(text: string, where?: string): Notation {
  try {
    return parseNotation(text);
  } catch (error) {
    const message = (error as Error).message;
    throw usage(where === undefined ? message : `${where}: ${message}`);
  }
}
