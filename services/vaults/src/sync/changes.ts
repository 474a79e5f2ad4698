import { ServiceError } from "@coffer/errors";
import type { changesSince } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { insertPage } from "../store/sync-pages.ts";
import type { RecordPart } from "../store/sync-parts.ts";
import { hasEntries, readPart } from "../store/sync-parts.ts";
import { findMoment, isKnown } from "../store/sync-ticks.ts";
import { firstPlace } from "./first-place.ts";
import type { Place } from "./place.ts";
import { placeCursor, placeOf } from "./place.ts";
import { recordHandedOut } from "./record-handed-out.ts";

export type SyncQuestion = z.infer<typeof changesSince.input>;
export type SyncPart = z.infer<typeof changesSince.output>;

/** At most so many entries, and bytes, in a part. */
const partSize = {
  /** More than there are of records of 1 KiB: a part of small ones is small. */
  entries: 320,
  /**
   * The bus carries 512 KiB. Its client puts a message together in memory that it doubles, and at up to 448 KiB, with what
   * is around the entries, has doubled it once less: sync takes half the memory for a part then.
   */
  bytes: 424 * 1024,
};

/**
 * A part of what changed for a person since their last sync: the reply to `changesSince`. Who sees what is decided anew
 * for each part; what changes between two parts comes with the next sync at the latest.
 * @throws ServiceError `invalid_request` for a `last_sync` or `after` of another form, or a `limit` for deletions alone,
 * `unavailable`
 */
export async function listChanges(
  deps: Pick<Deps, "audit" | "database" | "newId" | "now" | "ticker">,
  asked: SyncQuestion,
  { entries, bytes } = partSize,
): Promise<SyncPart> {
  const onlyDeleted = asked.only_deleted === true;
  if (onlyDeleted && asked.limit !== null)
    throw new ServiceError("invalid_request", "a limit counts changes and deletions together");
  const place = asked.after === null ? await begin(deps, asked) : placeOf(asked.after);
  const [part] = await Promise.all([
    readPart(deps.database.pool, {
      userId: asked.user_id,
      fromX: place.from_x,
      after: place.position,
      onlyDeleted,
      entries: Math.min(entries, place.left ?? entries),
      bytes,
    }),
    asked.after === null ? undefined : requireKnown(deps, place),
  ]);
  const { changes, change_lengths, deleted, handed_out } = part;
  const [end] = await Promise.all([
    endOf(deps, asked.user_id, place, behind(place, part)),
    recordHandedOut(deps, asked, handed_out),
  ]);
  return { changes: Buffer.from(changes), change_lengths, deleted, reset: place.reset, ...end };
}

async function begin(deps: Pick<Deps, "database" | "now" | "ticker">, asked: SyncQuestion): Promise<Place> {
  // Before anything is read: what the tick says is over is then in what is read.
  await deps.ticker.tick();
  return firstPlace(deps, asked);
}

async function requireKnown({ database }: Pick<Deps, "database">, { from_x, to_label }: Place): Promise<void> {
  if (await isKnown(database.pool, { fromX: from_x, toLabel: to_label })) return;
  throw new ServiceError("unavailable", "the database was set back meanwhile: sync again", { retryAfterSeconds: 1 });
}

/** Where the next part begins; null when there is none. */
function behind(place: Place, { end, told }: RecordPart): Place | null {
  if (end === null) return null;
  return { ...place, position: end, left: place.left === null ? null : place.left - told };
}

async function endOf(
  { database, now }: Pick<Deps, "database" | "now">,
  userId: string,
  { to_label, resumed }: Place,
  next: Place | null,
): Promise<Pick<SyncPart, "after" | "has_more" | "server_time">> {
  if (next?.position == null) {
    const has_more = resumed && (await isNewer(database.pool, { userId, label: to_label }));
    return { server_time: to_label, has_more, after: null };
  }
  if (next.left !== 0) return { server_time: to_label, has_more: false, after: placeCursor(next) };
  const { from_x, position, reset, connection_id } = next;
  const page = { from_x, to_label, position, reset, connection_id };
  const label = await insertPage(database.pool, { userId, page, now: now() });
  if (label === null) {
    throw new ServiceError("unavailable", "the database was set back meanwhile: sync again", { retryAfterSeconds: 1 });
  }
  return { server_time: label, has_more: true, after: null };
}

/**
 * Whether a device that holds all up to `label` lacks anything. Asked for walks over pages that began on another
 * connection: no push of this connection brings what has changed since. Read after the last part, so that a later
 * change is pushed.
 */
async function isNewer(db: Queryable, { userId, label }: { userId: string; label: string }): Promise<boolean> {
  const moment = await findMoment(db, { label, oldest: new Date(0) });
  return moment?.from_x == null || hasEntries(db, { userId, fromX: moment.from_x });
}
