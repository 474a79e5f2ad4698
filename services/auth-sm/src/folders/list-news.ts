import { ServiceError } from "@coffer/errors";
import type { folderNewsSince } from "@coffer/events";
import { decodeCursor, encodeCursor } from "@coffer/http";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import type { FolderNewsMoment } from "../store/folder-news.ts";
import { findPresent, isSwept, listFolderNews, newsPosition } from "../store/folder-news.ts";

const limit = 500;
/** An answer on the bus carries 512 KiB, and one of the news up to 200. */
const bytes = 256 * 1024;

const momentForm = /^(\d{1,20}\.\d{1,10})\.(\d{1,20})$/;
const place = newsPosition.extend({ until: z.string().regex(momentForm) });

/**
 * A part of what was told of folders since a moment: the reply to `folderNewsSince`. It goes on until a part is empty.
 * @throws ServiceError `invalid_request` for a `since` or `after` of another form
 */
export async function listFolderNewsSince(
  { database: { pool } }: Pick<Deps, "database">,
  { since, after }: z.infer<typeof folderNewsSince.input>,
): Promise<z.infer<typeof folderNewsSince.output>> {
  // Before anything is read: what is noted later is in what is told since this moment.
  const present = await findPresent(pool);
  const now = `${present.server}.${present.x}`;
  if (since === null) return { folders: [], until: now, reset: false, after: null };
  const from = momentOf(since);
  const startOver = { folders: [], until: now, reset: true, after: null };
  if (from.server !== present.server) return startOver;
  const at = after === null ? null : decodeCursor(after, place);
  const found = await listFolderNews(pool, { since: from, after: at, limit, bytes });
  // After everything is read: what was swept away before that was not in it.
  if (await isSwept(pool, from)) return startOver;
  const until = at?.until ?? now;
  const last = found.at(-1);
  return {
    folders: found.map(({ news }) => news),
    until,
    reset: false,
    after: last === undefined ? null : encodeCursor({ x: last.x, position: last.position, until }),
  };
}

function momentOf(text: string): FolderNewsMoment {
  const [, server, x] = momentForm.exec(text) ?? [];
  if (server === undefined || x === undefined) throw new ServiceError("invalid_request", "since is not a moment");
  return { server, x };
}
