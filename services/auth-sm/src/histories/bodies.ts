import { uuidText } from "@coffer/http";
import { z } from "zod";
import { inviteToken } from "../invites/token.ts";

export const historyFolderPath = z.object({ id: uuidText });
export type HistoryFolderPath = z.infer<typeof historyFolderPath>;

export const invitedHistory = z.object({ token: inviteToken, after: z.int().min(0).max(999_999_999).optional() });
export type InvitedHistory = z.infer<typeof invitedHistory>;
