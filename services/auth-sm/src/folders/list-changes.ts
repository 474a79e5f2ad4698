import { ServiceError } from "@coffer/errors";
import type { folderCatchUpSince } from "@coffer/events";
import { decodeCursor, encodeCursor } from "@coffer/http";
import { z } from "zod";
import type { Deps } from "../deps.ts";
import {
  type ChangeMoment,
  changePosition,
  findPresent,
  isSwept,
  listFolderChanges,
} from "../store/folders/folder-news.ts";

const limit = 500;
/** A bus message may have 512 KiB, and one change takes up to 200 KiB. */
const bytes = 256 * 1024;

const momentForm = /^(\d{1,20}\.\d{1,10})\.(\d{1,20})$/;
const position = changePosition.extend({ until: z.string().regex(momentForm) });

/**
 * One page of the folder changes since a moment: the reply to `folderCatchUpSince`. The caller
 * continues until a page is empty.
 * @throws ServiceError `invalid_request` for a malformed `since` or `after`
 */
export async function listFolderChangesSince(
  { database: { pool } }: Pick<Deps, "database">,
  { since, after }: z.infer<typeof folderCatchUpSince.input>,
): Promise<z.infer<typeof folderCatchUpSince.output>> {
  // Read the moment first: a change that is logged later appears in the changes since this moment.
  const present = await findPresent(pool);
  const now = `${present.server}.${present.x}`;
  if (since === null) return { folders: [], until: now, reset: false, after: null };
  const from = momentOf(since);
  const startOver = { folders: [], until: now, reset: true, after: null };
  if (from.server !== present.server) return startOver;
  const at = after === null ? null : decodeCursor(after, position);
  const found = await listFolderChanges(pool, { since: from, after: at, limit, bytes });
  // Checked after the read: changes that the sweep deleted before the read are missing in the result.
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

function momentOf(text: string): ChangeMoment {
  const [, server, x] = momentForm.exec(text) ?? [];
  if (server === undefined || x === undefined) throw new ServiceError("invalid_request", "since is not a moment");
  return { server, x };
}
