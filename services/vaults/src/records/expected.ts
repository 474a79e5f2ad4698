import { ServiceError } from "@coffer/errors";
import { timestampText } from "@coffer/http";
import type { Queryable } from "@coffer/postgres";
import { recordExists } from "../store/records.ts";
import { recordNotFound } from "./not-found.ts";

/** Earlier than any record: what `If-Match` stands for when it names no moment. */
const never = "0001-01-01T00:00:00Z";

/** The server timestamp that a write is to find, by the tag of its `If-Match`; undefined when any will do. */
export function expectedMoment(tag: string | undefined): string | undefined {
  return tag === undefined ? undefined : (timestampText.safeParse(tag).data ?? never);
}

/** Why a write did not find the record as `expected`: `precondition_failed` when it is another by now, else `not_found`. */
export async function notAsExpected(
  db: Queryable,
  { vaultId, id, expected }: { vaultId: string; id: string; expected: string | undefined },
): Promise<ServiceError> {
  const changed = expected !== undefined && (await recordExists(db, vaultId, id));
  if (!changed) return recordNotFound();
  return new ServiceError("precondition_failed", "the record has changed: read it again, then write");
}
