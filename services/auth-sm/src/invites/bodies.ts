import { roles } from "@coffer/contract";
import { sha256Text, uuidText } from "@coffer/http";
import { z } from "zod";
import { proofFields } from "../accounts/bodies.ts";
import { emailText } from "../accounts/email.ts";
import { entryText } from "@coffer/service";
import { inviteToken } from "./token.ts";

export const newInvite = z.object({
  email: emailText,
  role: z.enum(roles),
  /** The hex SHA-256 of a token that the client made. */
  token_hash: sha256Text.optional(),
  entry: entryText.optional(),
});
export type NewInvite = z.infer<typeof newInvite>;

/** The proof is needed only while the caller travels. */
export const acceptance = proofFields.extend({ token: inviteToken, entry: entryText.optional() });
export type Acceptance = z.infer<typeof acceptance>;

export const invitePath = z.object({ id: uuidText });
export type InvitePath = z.infer<typeof invitePath>;
