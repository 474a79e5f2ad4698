import { z } from "zod";
import { opaqueMessage, proofFields, recovery, sealedKey } from "../accounts/bodies.ts";

export const passwordStart = z.object({ registration_request: opaqueMessage });
export type PasswordStart = z.infer<typeof passwordStart>;

export const passwordChange = proofFields.extend({
  registration_record: opaqueMessage,
  encrypted_user_key: sealedKey,
  recovery: recovery.optional(),
});
export type PasswordChange = z.infer<typeof passwordChange>;
