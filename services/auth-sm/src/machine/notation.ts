import { ServiceError } from "@coffer/errors";
import { z } from "zod";

const form = "coffer://<folder>/<title>/field/<field>";

/** The percent-decoded parts of a notation. */
export interface Notation {
  folder: string;
  title: string;
  field: string;
}

/** Fits the longest names (128, 256 and 128 characters of four bytes) with every byte escaped. */
export const notationBody = z.object({ notation: z.string().min(1).max(8192) });

/**
 * Splits a notation on `/` and then percent-decodes each part, so that a part may contain an
 * encoded slash.
 * @throws ServiceError `invalid_request` for another scheme or form, an empty part or a malformed
 * escape
 */
export function parseNotation(notation: string): Notation {
  const match = /^coffer:\/\/(?<path>.*)$/s.exec(notation);
  const parts = match?.groups?.["path"]?.split("/") ?? [];
  const [folder, title, literal, field] = parts.map(decode);
  if (parts.length !== 4 || literal !== "field" || !folder || !title || !field) {
    throw new ServiceError("invalid_request", `the notation must have the form ${form}, with no part empty`);
  }
  // Postgres cannot store NUL in a text, so no name contains one.
  if ([folder, title, field].some((part) => part.includes("\u0000"))) {
    throw new ServiceError("invalid_request", "the notation has a NUL character, which no name can hold");
  }
  return { folder, title, field };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ServiceError("invalid_request", "the notation has a malformed percent escape");
  }
}
