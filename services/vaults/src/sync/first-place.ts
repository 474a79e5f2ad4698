import { ServiceError } from "@coffer/errors";
import { timestampText } from "@coffer/http";
import type { Deps } from "../deps.ts";
import { findPage } from "../store/sync-pages.ts";
import { findMoment, isKnown } from "../store/sync-ticks.ts";
import type { Place } from "./place.ts";
import { oldestPage, oldestSync } from "./retention.ts";

export interface SyncRequest {
  user_id: string;
  last_sync: string | null;
  limit: number | null;
}

const everything = { from_x: "0", position: null };

/**
 * Where the answer to a `sync_request` begins: at the moment of `last_sync`, in the page that it stands for, or at
 * nothing, with `reset` when the device has something that nothing is known of.
 * @throws ServiceError `invalid_request` for a `last_sync` that is no timestamp, `unavailable`
 */
export async function firstPlace(
  { database: { pool }, now }: Pick<Deps, "database" | "now">,
  { user_id: userId, last_sync, limit: left }: SyncRequest,
): Promise<Place> {
  const label = last_sync === null ? null : timestampText.safeParse(last_sync).data;
  if (label === undefined) throw new ServiceError("invalid_request", "last_sync is not a timestamp");
  const [moment, page] = await Promise.all([
    findMoment(pool, { label, oldest: oldestSync(now()) }),
    label === null ? null : findPage(pool, { userId, label, oldest: oldestPage(now()) }),
  ]);
  if (moment === null)
    throw new ServiceError("unavailable", "sync is being set up; try again", { retryAfterSeconds: 1 });
  if (label === null) return { ...everything, to_label: moment.newest, reset: false, left };
  if (page !== null) {
    const { from_x, to_label, position, reset } = page;
    if (page.recent && (await isKnown(pool, { fromX: from_x, toLabel: to_label }))) {
      return { from_x, to_label, position, reset, left };
    }
    return { ...everything, to_label: moment.newest, reset: true, left };
  }
  if (moment.from_x === null) return { ...everything, to_label: moment.newest, reset: true, left };
  return { from_x: moment.from_x, position: null, to_label: moment.newest, reset: false, left };
}
