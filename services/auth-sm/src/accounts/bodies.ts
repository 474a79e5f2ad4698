import { base64Text, nameText, sha256Text, uuidText } from "@coffer/http";
import { z } from "zod";
import { inviteToken } from "../invites/token.ts";
import { entryText } from "@coffer/service";
import { sealedKeyring } from "../keyrings/bodies.ts";
import { emailText } from "./email.ts";

/** A message of OPAQUE: its form is looked at where it is used. */
export const opaqueMessage = z.string().min(1).max(1024);
/** A key that only its owner can open. */
export const sealedKey = base64Text(64);

/** The device on which a session lives, as its client names it. */
export const device = z.object({ id: nameText(), name: nameText(), type: nameText(64) });

/** What lets the holder of the recovery key in. */
export const recovery = z.object({ proof_hash: sha256Text, encrypted_user_key: sealedKey });

/** A code of the second factor, or a recovery code. */
export const otpText = z.string().max(64);

export const otpField = z.object({ otp: otpText });
export type OtpField = z.infer<typeof otpField>;

/** A fresh proof of the password; what is missing or wrong of it is answered by `requireProof`. */
export const proofFields = z.object({
  login_id: z.string().max(64).optional(),
  finish_login_request: z.string().max(1024).optional(),
  otp: otpText.optional(),
});
export type ProofFields = z.infer<typeof proofFields>;

export const registrationStart = z.object({ email: emailText, registration_request: opaqueMessage });
export type RegistrationStart = z.infer<typeof registrationStart>;

/** The ids are made by clients that sign: entries and sealed texts name them. */
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
  /** Entry 0 of the organization that `org_name` makes. */
  entry: entryText.optional(),
  keyring: sealedKeyring.optional(),
  invite_token: inviteToken.optional(),
  device,
});
export type Registration = z.infer<typeof registration>;

export const loginStart = z.object({
  email: emailText,
  start_login_request: opaqueMessage,
  /** What this device got with its last session of the account. */
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
