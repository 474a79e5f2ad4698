import { compactJws } from "@coffer/http";
import { z } from "zod";

/** A signed entry of a history: a compact JWS of at most 64 KiB. */
export const entryText = compactJws(64);

export const newEntry = z.object({ entry: entryText });
export type NewEntry = z.infer<typeof newEntry>;

/** `after`: the entries after this number. */
export const historyQuery = z.object({
  after: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,8})$/, "not the number of an entry")
    .transform(Number)
    .optional(),
});
export type HistoryQuery = z.infer<typeof historyQuery>;
