import { createHash } from "node:crypto";
import { decodeCursor, encodeCursor, nameText, timestampText, uidText } from "@coffer/http";
import { z } from "zod";
import { listSecrets } from "../store/secrets.ts";
import type { FoundSecret, SearchPosition } from "../store/secret-search.ts";
import { searchSecrets, titleStartLength } from "../store/secret-search.ts";
import type { SecretFilter, SecretRow } from "../store/secrets.ts";
import type { Queryable } from "@coffer/postgres";
import type { ListQuery, SearchQuery } from "./bodies.ts";

/** One page, or with no limit asked for the whole list, which has no `next_cursor` at all. */
export interface Page<Item> {
  data: Item[];
  next_cursor?: string | null;
}

const listPosition = z.object({ created_at: timestampText, uid: uidText });
const searchPosition = z.object({ rank: z.int().min(0).max(2), title: nameText(titleStartLength), uid: uidText });

/** The entity tag of a page: new whenever a secret of it, their order or what follows changes. */
export function pageTag(page: Page<SecretRow>): string {
  const content = page.data.map(({ uid, version, updated_at }) => `${uid} ${version} ${updated_at}`);
  return createHash("sha256")
    .update([...content, page.next_cursor ?? ""].join("\n"))
    .digest("base64url");
}

/** A page of the secrets of these folders, in order of creation. */
export async function listPage(
  db: Queryable,
  folderIds: readonly string[],
  query: ListQuery,
): Promise<Page<SecretRow>> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, listPosition);
  const rows = await listSecrets(db, {
    ...filterOf(folderIds, query),
    after: after && { createdAt: after.created_at, uid: after.uid },
  });
  return pageOf(rows, query.limit, ({ created_at, uid }) => ({ created_at, uid }));
}

/** A page of the secrets of these folders whose title matches, best first. */
export async function searchPage(
  db: Queryable,
  folderIds: readonly string[],
  query: SearchQuery,
): Promise<Page<FoundSecret>> {
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, searchPosition);
  const position: SearchPosition | undefined = after && { rank: after.rank, titleStart: after.title, uid: after.uid };
  const rows = await searchSecrets(db, query.title, { ...filterOf(folderIds, query), after: position });
  return pageOf(rows, query.limit, ({ rank, title_start, uid }) => ({ rank, title: title_start, uid }));
}

function filterOf(folderIds: readonly string[], query: ListQuery): Omit<SecretFilter, "after"> {
  return {
    folderIds,
    recordType: query.record_type,
    updatedSince: query.updated_since,
    // One more than asked for tells whether there is a next page.
    limit: query.limit === undefined ? undefined : query.limit + 1,
  };
}

function pageOf<Row>(rows: readonly Row[], limit: number | undefined, position: (row: Row) => unknown): Page<Row> {
  if (limit === undefined) return { data: [...rows] };
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null };
}
