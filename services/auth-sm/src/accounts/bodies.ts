import { base64Text, nameText, sha256Text, uuidText } from "@coffer/http";
import { z } from "zod";
import { inviteToken } from "../invites/token.ts";
import { entryText } from "@coffer/service";
import { sealedKeyring } from "../keyrings/bodies.ts";
import { emailText } from "./email.ts";

/** An OPAQUE message. Its exact form is checked where it is used. */
export const opaqueMessage = z.string().min(1).max(1024);
export const sealedKey = base64Text(64);

export const device = z.object({ id: nameText(), name: nameText(), type: nameText(64) });

/** The values for a recovery with the recovery key. */
export const recovery = z.object({ proof_hash: sha256Text, encrypted_user_key: sealedKey });

/** A TOTP code or a recovery code. */
export const otpText = z.string().max(64);

export const otpField = z.object({ otp: otpText });
export type OtpField = z.infer<typeof otpField>;

/** A new proof of the password. `requireProof` answers missing or wrong fields. */
export const proofFields = z.object({
  login_id: z.string().max(64).optional(),
  finish_login_request: z.string().max(1024).optional(),
  otp: otpText.optional(),
});
export type ProofFields = z.infer<typeof proofFields>;

export const registrationStart = z.object({ email: emailText, registration_request: opaqueMessage });
export type RegistrationStart = z.infer<typeof registrationStart>;

/** Clients that sign choose the ids, because entries and sealed values name them. */
export const registration = z.object({
  user_id: uuidText.optional(),
  email: emailText,
  name: nameText().optional(),
  registration_record: opaqueMessage,
  public_key: z.string().min(1).max(4096),
  encrypted_user_key: sealedKey,
  encrypted_private_key: sealedKey,
  recovery: recovery.optional(),
  org_name: nameText().optional(),
  org_id: uuidText.optional(),
  /** Entry 0 of the organization that `org_name` creates. */
  entry: entryText.optional(),
  keyring: sealedKeyring.optional(),
  invite_token: inviteToken.optional(),
  device,
});
export type Registration = z.infer<typeof registration>;

export const loginStart = z.object({
  email: emailText,
  start_login_request: opaqueMessage,
  /** The credential that this device received with its last session of the account. */
  device_credential: z.string().max(128).optional(),
});
export type LoginStart = z.infer<typeof loginStart>;

export const loginFinish = z.object({
  login_id: uuidText,
  finish_login_request: opaqueMessage,
  otp: otpText.optional(),
  device,
});
export type LoginFinish = z.infer<typeof loginFinish>;
