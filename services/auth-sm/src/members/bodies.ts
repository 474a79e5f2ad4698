import { memberStatuses, roles } from "@coffer/contract";
import { uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText } from "@coffer/service";

export const memberPath = z.object({ user_id: uuidText });
export type MemberPath = z.infer<typeof memberPath>;

export const memberSessionPath = memberPath.extend({ sid: uuidText });
export type MemberSessionPath = z.infer<typeof memberSessionPath>;

export const memberRemoval = z.object({ force: z.enum(["true", "false"]).optional() });
export type MemberRemoval = z.infer<typeof memberRemoval>;

/** A field that is not sent is not changed. */
export const memberChange = z.object({
  role: z.enum(roles).optional(),
  status: z.enum(memberStatuses).optional(),
  entry: entryText.optional(),
});
export type MemberChange = z.infer<typeof memberChange>;
