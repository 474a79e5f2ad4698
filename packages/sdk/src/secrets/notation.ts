import { CofferError } from "../errors.ts";

export const notationScheme = "coffer://";

/** The name of one field: `coffer://<folder>/<title>/field/<field>`, percent-decoded. */
export interface Notation {
  /** Name or id of the folder. */
  folder: string;
  /** Title or uid of the secret. */
  title: string;
  field: string;
}

/**
 * Parses a notation: split on `/`, then percent-decoded, exactly four parts with the literal
 * `field` in third position. Throws CofferError `invalid_request` for anything else.
 */
export function parseNotation(text: string): Notation {
  const parts = partsOf(text);
  if (parts.length !== 4) throw wrong(`${parts.length} ${parts.length === 1 ? "part" : "parts"} instead of four`);
  const [folder, title, literal, field] = parts.map(decoded) as [string, string, string, string];
  if (literal !== "field") throw wrong("the third part is not `field`");
  if (folder === "" || title === "" || field === "") throw wrong("an empty part");
  return { folder, title, field };
}

/**
 * Parses the name of a whole secret: `coffer://<folder>/<title>`, or the notation of one of its
 * fields. Throws CofferError `invalid_request` for anything else.
 */
export function parseSecretNotation(text: string): Omit<Notation, "field"> & { field: string | undefined } {
  const parts = partsOf(text);
  if (parts.length !== 2) return parseNotation(text);
  const [folder, title] = parts.map(decoded) as [string, string];
  if (folder === "" || title === "") throw wrong("an empty part");
  return { folder, title, field: undefined };
}

function partsOf(text: string): string[] {
  if (!text.startsWith(notationScheme)) throw wrong(`it does not start with ${notationScheme}`);
  return text.slice(notationScheme.length).split("/");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong("a percent sign that starts no escape; write %25 for a percent sign");
  }
}

function wrong(why: string): CofferError {
  return new CofferError("invalid_request", `not a notation (${why}): write coffer://<folder>/<title>/field/<field>`);
}

/**
 * Formats a notation so that `parseNotation` returns the same names, whatever characters they
 * contain.
 */
export function formatNotation({ folder, title, field }: Notation): string {
  const escape = (part: string): string => part.replace(/[%/?#{}\s\p{Cc}\p{Cf}]/gu, encodeURIComponent);
  return `${notationScheme}${escape(folder)}/${escape(title)}/field/${escape(field)}`;
}
