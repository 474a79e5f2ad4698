import { uuidText } from "@coffer/http";
import { z } from "zod";
import { inviteToken } from "../invites/token.ts";
import { entryText } from "./entry-text.ts";

export const newEntry = z.object({ entry: entryText });
export type NewEntry = z.infer<typeof newEntry>;

/** The entries after this number are wanted. */
export const historyQuery = z.object({
  after: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,8})$/, "not the number of an entry")
    .transform(Number)
    .optional(),
});
export type HistoryQuery = z.infer<typeof historyQuery>;

export const historyFolderPath = z.object({ id: uuidText });
export type HistoryFolderPath = z.infer<typeof historyFolderPath>;

export const invitedHistory = z.object({ token: inviteToken, after: z.int().min(0).max(999_999_999).optional() });
export type InvitedHistory = z.infer<typeof invitedHistory>;
