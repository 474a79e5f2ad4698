import { createHash } from "node:crypto";
import { Secret, TOTP } from "otpauth";

const issuer = "Coffer";
/** RFC 6238 with the values that every authenticator knows. */
const form = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** A clock may be a step behind or ahead. */
const toleratedSteps = 1;
/** RFC 4226 asks for as many bytes as the hash has. */
export const secretBytes = 20;

/** What an authenticator is given, as text and as an address that it reads from a picture. */
export interface Enrolment {
  /** base32 without padding */
  secret: string;
  otpauth_url: string;
}

export function enrolmentOf(secret: Buffer, email: string): Enrolment {
  const totp = new TOTP({ ...form, issuer, label: email, secret: secretOf(secret) });
  return { secret: totp.secret.base32, otpauth_url: totp.toString() };
}

/** The time step of which this is the code: the present one, the one before or the one after; null when it is none. */
export function stepOf(secret: Buffer, code: string, now: Date): number | null {
  const totp = new TOTP({ ...form, secret: secretOf(secret) });
  const timestamp = now.getTime();
  const difference = totp.validate({ token: code, window: toleratedSteps, timestamp });
  return difference === null ? null : totp.counter({ timestamp }) + difference;
}

/** So many bytes are in a recovery code. */
export const recoveryCodeBytes = 10;

/** A recovery code as it is shown: 16 letters and digits in four groups. */
export function recoveryCodeOf(bytes: Buffer): string {
  return (secretOf(bytes).base32.toLowerCase().match(/.{4}/g) ?? []).join("-");
}

/** What a person typed, without blanks and hyphens, in one case. */
export function plainCode(otp: string): string {
  return otp.replace(/[\s-]/g, "").toLowerCase();
}

/** What is kept of a recovery code, however it is written. */
export function hashRecoveryCode(code: string): Buffer {
  return createHash("sha256").update(plainCode(code)).digest();
}

function secretOf(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
