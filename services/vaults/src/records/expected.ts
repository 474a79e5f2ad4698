import { ServiceError } from "@coffer/errors";
import { timestampText } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { recordExists } from "../store/records/records.ts";
import { recordNotFound } from "../errors.ts";

/** Earlier than any record: matches none, for an `If-Match` that is not a timestamp. */
const never = "0001-01-01T00:00:00Z";

/** The server timestamp of `If-Match`; undefined without one. */
export function expectedMoment(tag: string | undefined): string | undefined {
  return tag === undefined ? undefined : (timestampText.safeParse(tag).data ?? never);
}

/**
 * The error of a write that did not match: `precondition_failed` if the record exists, else
 * `not_found`.
 */
export async function notAsExpected(
  db: Queryable,
  { vaultId, id, expected }: { vaultId: string; id: string; expected: string | undefined },
): Promise<ServiceError> {
  const changed = expected !== undefined && (await recordExists(db, vaultId, id));
  if (!changed) return recordNotFound();
  return new ServiceError("precondition_failed", "the record has changed: read it again, then write");
}
