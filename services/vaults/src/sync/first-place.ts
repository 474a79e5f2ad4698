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
  /** The connection of the device. A version of sync that does not send it gets the answers of a resumed walk. */
  connection_id?: string | null | undefined;
}

/**
 * Where the answer to a `sync_request` begins: at the moment of `last_sync`, in the page that it stands for, or at
 * nothing, with `reset` when the device has something that nothing is known of.
 * @throws ServiceError `invalid_request` for a `last_sync` that is no timestamp, `unavailable`
 */
export async function firstPlace(
  { database: { pool }, now }: Pick<Deps, "database" | "now">,
  { user_id: userId, last_sync, limit: left, connection_id = null }: SyncRequest,
): Promise<Place> {
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
