import { uuidText } from "@coffer/http";
import { z } from "zod";
import { emailText } from "../accounts/email.ts";
import { roles } from "../store/memberships.ts";

export const newInvite = z.object({ email: emailText, role: z.enum(roles) });
export type NewInvite = z.infer<typeof newInvite>;

/** An invitation's token as it was given. */
export const inviteToken = z.string().min(1).max(512);

export const acceptance = z.object({ token: inviteToken });
export type Acceptance = z.infer<typeof acceptance>;

export const invitePath = z.object({ id: uuidText });
export type InvitePath = z.infer<typeof invitePath>;
