import { ServiceError } from "@coffer/errors";
import { z } from "zod";

const position = z.strictObject({ after: z.int().positive() });

/** The place after which the next page begins, as clients carry it. */
export function encodeCursor(after: number): string {
  return Buffer.from(JSON.stringify({ after })).toString("base64url");
}

/**
 * The place that a cursor stands for.
 * @throws ServiceError `invalid_request` when it is none of ours
 */
export function decodeCursor(cursor: string): number {
  try {
    return position.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))).after;
  } catch (cause) {
    throw new ServiceError("invalid_request", "the cursor is not one that this list gave", { cause });
  }
}
