import { ServiceError } from "@coffer/errors";
import type { changesSince } from "@coffer/events";
import type { Queryable } from "@coffer/postgres";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { insertPage } from "../store/sync/sync-pages.ts";
import { hasEntries, readPart, type RecordPart } from "../store/sync/sync-parts.ts";
import { findMoment, isKnown } from "../store/sync/sync-ticks.ts";
import { firstCursor } from "./first-cursor.ts";
import { decodeSyncCursor, encodeSyncCursor, type SyncCursor } from "./cursor.ts";
import { recordHandedOut } from "./record-handed-out.ts";

export type SyncRequestInput = z.infer<typeof changesSince.input>;
export type SyncPart = z.infer<typeof changesSince.output>;

/** The limits of a part. */
const partSize = {
  /** More than fit at 1 KiB a record. */
  entries: 320,
  /**
   * The bus carries 512 KiB. Its client doubles a buffer to build a message. Up to 448 KiB, with
   * the envelope, it doubles once less, which halves sync's memory for a part.
   */
  bytes: 424 * 1024,
};

/**
 * A part of a person's changes since their last sync: the reply to `changesSince`. Each part
 * computes visibility from its own snapshot. Changes between two parts come with the next sync at
 * the latest.
 * @throws ServiceError `invalid_request` for a malformed `last_sync` or `after`, or a `limit` with
 *   `only_deleted`; `unavailable`
 */
export async function listChanges(
  deps: Pick<Deps, "audit" | "database" | "newId" | "now" | "ticker">,
  input: SyncRequestInput,
  { entries, bytes } = partSize,
): Promise<SyncPart> {
  const onlyDeleted = input.only_deleted === true;
  if (onlyDeleted && input.limit !== null)
    throw new ServiceError("invalid_request", "a limit counts changes and deletions together");
  const cursor = input.after === null ? await begin(deps, input) : decodeSyncCursor(input.after);
  const [part] = await Promise.all([
    readPart(deps.database.pool, {
      userId: input.user_id,
      fromX: cursor.from_x,
      after: cursor.position,
      onlyDeleted,
      entries: Math.min(entries, cursor.left ?? entries),
      bytes,
    }),
    input.after === null ? undefined : requireKnown(deps, cursor),
  ]);
  const { changes, change_lengths, deleted, handed_out } = part;
  const [end] = await Promise.all([
    endOf(deps, input.user_id, cursor, nextCursor(cursor, part)),
    recordHandedOut(deps, input, handed_out),
  ]);
  return { changes: Buffer.from(changes), change_lengths, deleted, reset: cursor.reset, ...end };
}

async function begin(deps: Pick<Deps, "database" | "now" | "ticker">, input: SyncRequestInput): Promise<SyncCursor> {
  // Before the read, so that the read sees every transaction that the tick counts as finished.
  await deps.ticker.tick();
  return firstCursor(deps, input);
}

async function requireKnown({ database }: Pick<Deps, "database">, { from_x, to_label }: SyncCursor): Promise<void> {
  if (await isKnown(database.pool, { fromX: from_x, toLabel: to_label })) return;
  throw new ServiceError("unavailable", "the database was restored meanwhile: sync again", { retryAfterSeconds: 1 });
}

/** The cursor of the next part; null after the last one. */
function nextCursor(cursor: SyncCursor, { end, listed }: RecordPart): SyncCursor | null {
  if (end === null) return null;
  return { ...cursor, position: end, left: cursor.left === null ? null : cursor.left - listed };
}

async function endOf(
  { database, now }: Pick<Deps, "database" | "now">,
  userId: string,
  { to_label, resumed }: SyncCursor,
  next: SyncCursor | null,
): Promise<Pick<SyncPart, "after" | "has_more" | "server_time">> {
  if (next?.position == null) {
    const has_more = resumed && (await isNewer(database.pool, { userId, label: to_label }));
    return { server_time: to_label, has_more, after: null };
  }
  if (next.left !== 0) return { server_time: to_label, has_more: false, after: encodeSyncCursor(next) };
  const { from_x, position, reset, connection_id } = next;
  const page = { from_x, to_label, position, reset, connection_id };
  const label = await insertPage(database.pool, { userId, page, now: now() });
  if (label === null) {
    throw new ServiceError("unavailable", "the database was restored meanwhile: sync again", { retryAfterSeconds: 1 });
  }
  return { server_time: label, has_more: true, after: null };
}

/**
 * Whether anything changed after `label`. Used for pages that began on another connection, whose
 * pushes this connection has missed. Read after the last part: later changes are pushed.
 */
async function isNewer(db: Queryable, { userId, label }: { userId: string; label: string }): Promise<boolean> {
  const moment = await findMoment(db, { label, oldest: new Date(0) });
  return moment?.from_x == null || hasEntries(db, { userId, fromX: moment.from_x });
}
