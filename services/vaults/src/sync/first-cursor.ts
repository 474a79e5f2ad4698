import { ServiceError } from "@coffer/errors";
import { timestampText } from "@coffer/http";
import type { Deps } from "../deps.ts";
import { findPage } from "../store/sync/sync-pages.ts";
import { findMoment, isKnown } from "../store/sync/sync-ticks.ts";
import type { SyncCursor } from "./cursor.ts";
import { oldestPage, oldestSync } from "./retention.ts";

export interface SyncRequest {
  user_id: string;
  last_sync: string | null;
  limit: number | null;
  /** The device's connection. Without it, from an older sync, every page counts as resumed. */
  connection_id?: string | null | undefined;
}

/**
 * The first cursor of a `sync_request`: at the tick of `last_sync`, at the page that it names, or
 * at the beginning. `reset` if `last_sync` is unknown.
 * @throws ServiceError `invalid_request` if `last_sync` is not a timestamp, `unavailable`
 */
export async function firstCursor(
  { database: { pool }, now }: Pick<Deps, "database" | "now">,
  { user_id: userId, last_sync, limit: left, connection_id = null }: SyncRequest,
): Promise<SyncCursor> {
  const label = last_sync === null ? null : timestampText.safeParse(last_sync).data;
  if (label === undefined) throw new ServiceError("invalid_request", "last_sync is not a timestamp");
  const [moment, page] = await Promise.all([
    findMoment(pool, { label, oldest: oldestSync(now()) }),
    label === null ? null : findPage(pool, { userId, label, oldest: oldestPage(now()) }),
  ]);
  if (moment === null)
    throw new ServiceError("unavailable", "sync is being set up; try again", { retryAfterSeconds: 1 });
  const begin = { position: null, to_label: moment.newest, left, connection_id, resumed: false };
  const everything = { ...begin, from_x: "0" };
  if (label === null) return { ...everything, reset: false };
  if (page !== null) {
    const { from_x, to_label, position, reset } = page;
    if (page.recent && (await isKnown(pool, { fromX: from_x, toLabel: to_label }))) {
      const resumed = page.connection_id === null || page.connection_id !== connection_id;
      return { from_x, to_label, position, reset, left, connection_id: page.connection_id, resumed };
    }
    return { ...everything, reset: true };
  }
  if (moment.from_x === null) return { ...everything, reset: true };
  return { ...begin, from_x: moment.from_x, reset: false };
}
