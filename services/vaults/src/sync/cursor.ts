import { decodeCursor, encodeCursor } from "@coffer/http";
import { z } from "zod";
import { position } from "../store/sync/sync-pages.ts";

const syncCursor = z.object({
  /** The watermark at which the response begins; `0`: everything. */
  from_x: z.string().regex(/^\d{1,20}$/),
  /** The `server_time` at which the response ends. */
  to_label: z.iso.datetime(),
  /** The last entry that was sent; null at the beginning. */
  position: position.nullable(),
  reset: z.boolean(),
  /** How many entries the response may still hold; null: all. */
  left: z.int().positive().nullable(),
  /** The connection on which the client began the pages; null: unknown. */
  connection_id: z.guid().nullable().default(null),
  /** The pages began on another connection, whose pushes this one has missed. */
  resumed: z.boolean().default(true),
});
/** Where a part of the response to a `sync_request` begins. */
export type SyncCursor = z.infer<typeof syncCursor>;

export const encodeSyncCursor = (at: SyncCursor): string => encodeCursor(at);

/** @throws ServiceError `invalid_request` */
export const decodeSyncCursor = (after: string): SyncCursor => decodeCursor(after, syncCursor);
