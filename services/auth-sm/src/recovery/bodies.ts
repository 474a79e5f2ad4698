import { uuidText } from "@coffer/http";
import { z } from "zod";
import { device, opaqueMessage, otpText, recovery, sealedKey } from "../accounts/bodies.ts";
import { emailText } from "../accounts/email.ts";

export const recoveryStart = z.object({
  email: emailText,
  proof: z.string().regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/, "not base64url of 32 bytes"),
  registration_request: opaqueMessage,
});
export type RecoveryStart = z.infer<typeof recoveryStart>;

export const recoveryFinish = z.object({
  recovery_id: uuidText,
  registration_record: opaqueMessage,
  encrypted_user_key: sealedKey,
  recovery: recovery.optional(),
  otp: otpText.optional(),
  device,
});
export type RecoveryFinish = z.infer<typeof recoveryFinish>;
