import { ServiceError } from "@coffer/errors";
import type { z } from "zod";

/** A position in a list as clients carry it: opaque, safe in a URL, and one that `cursorText` takes. */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/**
 * The position that a cursor stands for.
 * @throws ServiceError `invalid_request` when the schema of the list's positions does not take it
 */
export function decodeCursor<Position>(cursor: string, schema: z.ZodType<Position>): Position {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch (cause) {
    throw new ServiceError("invalid_request", "the cursor is not one that this list gave", { cause });
  }
}
