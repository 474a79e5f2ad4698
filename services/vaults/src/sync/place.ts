import { decodeCursor, encodeCursor } from "@coffer/http";
import { z } from "zod";
import { position } from "../store/sync-pages.ts";

const place = z.object({
  /** The watermark that the answer begins at; `0`: everything. */
  from_x: z.string().regex(/^\d{1,20}$/),
  /** The `server_time` at which the answer ends. */
  to_label: z.iso.datetime(),
  /** Behind what has been told; null at the beginning. */
  position: position.nullable(),
  reset: z.boolean(),
  /** How many entries may still be told to the client at once; null: all. */
  left: z.int().positive().nullable(),
  /** The connection on which the client began the pages; null: not known. */
  connection_id: z.guid().nullable().default(null),
  /** The pages began on another connection: its pushes are lost to this one. */
  resumed: z.boolean().default(true),
});
/** Where in the answer to one `sync_request` a part begins. */
export type Place = z.infer<typeof place>;

/** The place as the `after` of a part. */
export const placeCursor = (at: Place): string => encodeCursor(at);

/**
 * The place that an `after` stands for.
 * @throws ServiceError `invalid_request`
 */
export const placeOf = (after: string): Place => decodeCursor(after, place);
