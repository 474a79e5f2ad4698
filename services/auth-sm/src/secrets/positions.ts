import { decodeCursor, encodeCursor, nameText, timestampText, uidText } from "@coffer/http";
import { z } from "zod";
import type { ListKey } from "../store/secret-lists.ts";
import type { SearchKey } from "../store/secret-search.ts";
import { titleStartLength } from "../store/secret-search.ts";

const inList = z.object({ created_at: timestampText, uid: uidText });
const inSearch = z.object({ rank: z.int().min(0).max(2), title: nameText(titleStartLength), uid: uidText });

/** The cursor with which a list goes on after this secret. */
export function listCursor({ created_at, uid }: ListKey): string {
  return encodeCursor({ created_at, uid });
}

/** The cursor with which a search goes on after this result. */
export function searchCursor({ rank, title_start, uid }: SearchKey): string {
  return encodeCursor({ rank, title: title_start, uid });
}

/**
 * After which secret a list goes on; undefined, at its beginning, without a cursor.
 * @throws ServiceError `invalid_request` for a cursor that no list gives
 */
export function placeInList(cursor: string | undefined): ListKey | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor, inList);
}

/** After which result a search goes on. Throws as above. */
export function placeInSearch(cursor: string | undefined): SearchKey | undefined {
  if (cursor === undefined) return undefined;
  const { rank, title, uid } = decodeCursor(cursor, inSearch);
  return { rank, title_start: title, uid };
}
