import { ServiceError } from "@coffer/errors";
import type { changesSince, RecordChange, RecordDeletion } from "@coffer/events";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { insertPage } from "../store/sync-pages.ts";
import type { Entry } from "../store/sync-parts.ts";
import { readPart } from "../store/sync-parts.ts";
import { isKnown } from "../store/sync-ticks.ts";
import { firstPlace } from "./first-place.ts";
import type { Place } from "./place.ts";
import { placeCursor, placeOf } from "./place.ts";
import { recordHandedOut } from "./record-handed-out.ts";

export type SyncQuestion = z.infer<typeof changesSince.input>;
export type SyncPart = z.infer<typeof changesSince.output>;

/** A record as it is now, and when it became so. */
type Change = Pick<Entry, "at" | "id" | "vault_id"> & NonNullable<Entry["change"]>;

/** The bus carries 512 KiB; what is around the entries takes far less than the rest. */
const mostBytes = 480 * 1024;
/** More than there are of records of 1 KiB: a part of small ones is small. */
const mostEntries = 320;

/**
 * A part of what changed for a person since their last sync: the reply to `changesSince`. Who sees what is decided anew
 * for each part; what changes between two parts comes with the next sync at the latest.
 * @throws ServiceError `invalid_request` for a `last_sync` or `after` of another form, or a `limit` for deletions alone,
 * `unavailable`
 */
export async function listChanges(
  deps: Pick<Deps, "audit" | "database" | "newId" | "now" | "ticker">,
  asked: SyncQuestion,
): Promise<SyncPart> {
  const onlyDeleted = asked.only_deleted === true;
  if (onlyDeleted && asked.limit !== null)
    throw new ServiceError("invalid_request", "a limit counts changes and deletions together");
  const place = asked.after === null ? await begin(deps, asked) : placeOf(asked.after);
  const most = Math.min(mostEntries, place.left ?? mostEntries);
  const [found] = await Promise.all([
    readPart(deps.database.pool, {
      userId: asked.user_id,
      fromX: place.from_x,
      after: place.position,
      onlyDeleted,
      rows: most + 1,
      bytes: mostBytes,
    }),
    asked.after === null ? undefined : requireKnown(deps, place),
  ]);
  const told = found.slice(0, most);
  const last = told.at(-1);
  const next = last !== undefined && last.found > told.length ? behind(place, last, told.length) : null;
  const [end] = await Promise.all([endOf(deps, asked.user_id, place, next), recordHandedOut(deps, asked, told)]);
  return { ...viewOf(told), reset: place.reset, ...end };
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

/** Behind the last of `count` entries that were told. */
function behind(place: Place, { vault_id, kind, x, id }: Entry, count: number): Place {
  const left = place.left === null ? null : place.left - count;
  return { ...place, position: { vault_id, kind, x, id }, left };
}

async function endOf(
  { database, now }: Pick<Deps, "database" | "now">,
  userId: string,
  { to_label }: Place,
  next: Place | null,
): Promise<Pick<SyncPart, "after" | "has_more" | "server_time">> {
  if (next?.position == null) return { server_time: to_label, has_more: false, after: null };
  if (next.left !== 0) return { server_time: to_label, has_more: false, after: placeCursor(next) };
  const page = { from_x: next.from_x, to_label, position: next.position, reset: next.reset };
  const label = await insertPage(database.pool, { userId, page, now: now() });
  if (label === null) {
    throw new ServiceError("unavailable", "the database was set back meanwhile: sync again", { retryAfterSeconds: 1 });
  }
  return { server_time: label, has_more: true, after: null };
}

function viewOf(told: readonly Entry[]): Pick<SyncPart, "change_lengths" | "changes" | "deleted"> {
  const changes: string[] = [];
  const deleted: RecordDeletion[] = [];
  for (const { id, vault_id, at, change } of told) {
    if (change === null) deleted.push({ id, vault_id, deleted_at: at });
    else changes.push(changeText({ id, vault_id, at, ...change }));
  }
  return {
    changes: Buffer.from(changes.join(",")),
    change_lengths: changes.map((text) => Buffer.byteLength(text)),
    deleted,
  };
}

/** A change as JSON. Ciphertext, which is nearly all of it, is base64: there is nothing in it to escape. */
function changeText({ id, vault_id, at, created, type, encrypted_data }: Change): string {
  const action: RecordChange["action"] = created ? "created" : "updated";
  const around = { id, vault_id, action, type, updated_at: at, server_timestamp: at };
  return `${JSON.stringify(around).slice(0, -1)},"encrypted_data":"${encrypted_data}"}`;
}
