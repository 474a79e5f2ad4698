import { CofferError } from "./errors.ts";

/** The scheme of a notation, with its slashes. */
export const notationScheme = "coffer://";

/** The place of one field: `coffer://<folder>/<title>/field/<field>`, percent-decoded. */
export interface Notation {
  /** Name or id of the folder. */
  folder: string;
  /** Title or uid of the secret. */
  title: string;
  field: string;
}

/**
 * Reads a notation: split on `/`, then percent-decoded, exactly four parts with the literal `field` in third place.
 * Throws CofferError `invalid_request` for anything else.
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
 * Reads what names a whole secret: `coffer://<folder>/<title>`, or the notation of one of its fields.
 * Throws CofferError `invalid_request` for anything else.
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

/** Writes a notation so that `parseNotation` reads the same three names, whatever characters they hold. */
export function formatNotation({ folder, title, field }: Notation): string {
  const escape = (part: string): string => part.replace(/[%/?#\s\p{Cc}]/gu, encodeURIComponent);
  return `${notationScheme}${escape(folder)}/${escape(title)}/field/${escape(field)}`;
}
