import { decodeCursor, encodeCursor, nameText, timestampText, uidText } from "@coffer/http";
import { z } from "zod";
import type { ListKey } from "../store/secrets/secret-lists.ts";
import { type SearchKey, titleStartLength } from "../store/secrets/secret-search.ts";

const inList = z.object({ created_at: timestampText, uid: uidText });
const inSearch = z.object({ rank: z.int().min(0).max(2), title: nameText(titleStartLength), uid: uidText });

/** The cursor after this secret of a list. */
export function listCursor({ created_at, uid }: ListKey): string {
  return encodeCursor({ created_at, uid });
}

/** The cursor after this result of a search. */
export function searchCursor({ rank, title_start, uid }: SearchKey): string {
  return encodeCursor({ rank, title: title_start, uid });
}

/**
 * The position of a list's cursor; undefined, the start, without a cursor.
 * @throws ServiceError `invalid_request` for a cursor that no list returned
 */
export function listPosition(cursor: string | undefined): ListKey | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor, inList);
}

/** The position of a search's cursor. Throws like `listPosition`. */
export function searchPosition(cursor: string | undefined): SearchKey | undefined {
  if (cursor === undefined) return undefined;
  const { rank, title, uid } = decodeCursor(cursor, inSearch);
  return { rank, title_start: title, uid };
}
