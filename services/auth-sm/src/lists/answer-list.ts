import { answerParts, cursorText, decodeCursor, pageLimit, type Part, type Streamed } from "@coffer/http";
import { z } from "zod";
import type { User } from "../callers/user.ts";
import type { Wanted } from "../store/list-parts.ts";

export const pageQuery = z.object({ limit: pageLimit.optional(), cursor: cursorText.optional() });
export type PageQuery = z.infer<typeof pageQuery>;

interface OrganizationList<Row, Key> {
  position: z.ZodType<Key>;
  keyOf: (row: Row) => Key;
  cursorOf: (row: Row) => string;
  view: (row: Row) => unknown;
  /** Authorizes the caller, and reads a part. */
  read: (caller: User, wanted: Wanted<Key>) => Promise<Part<Row> & { orgId: string }>;
}

/**
 * Answers a list of an organization. A long list is sent in parts, each authorized before it is sent, in the
 * organization of the first (docs/adr/0011).
 * @throws ServiceError `invalid_request` for a cursor of another list, and what `read` throws
 */
export async function answerList<Row, Key>(
  { caller, query: { limit, cursor } }: { caller: User; query: PageQuery },
  { position, keyOf, cursorOf, view, read }: OrganizationList<Row, Key>,
): Promise<object | Streamed> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, position);
  const { orgId, ...first } = await read(caller, { after, limit });
  return answerParts(first, {
    view,
    cursor: cursorOf,
    next: (last, left) => read({ ...caller, orgId }, { after: keyOf(last), limit: left }),
    limit,
  });
}
