import { createHash } from "node:crypto";
import { Secret, TOTP } from "otpauth";

const issuer = "Coffer";
/** RFC 6238 with the values that every authenticator supports. */
const form = { algorithm: "SHA1", digits: 6, period: 30 } as const;
/** A clock may be a step behind or ahead. */
const toleratedSteps = 1;
/** RFC 4226 recommends the length of the hash. */
export const secretBytes = 20;

/** The secret for an authenticator, as text and as the URL in a QR code. */
export interface Enrolment {
  /** base32 without padding */
  secret: string;
  otpauth_url: string;
}

export function enrolmentOf(secret: Buffer, email: string): Enrolment {
  const totp = new TOTP({ ...form, issuer, label: email, secret: secretOf(secret) });
  return { secret: totp.secret.base32, otpauth_url: totp.toString() };
}

/** The time step of this code: the current one, the previous or the next; null for a wrong code. */
export function stepOf(secret: Buffer, code: string, now: Date): number | null {
  const totp = new TOTP({ ...form, secret: secretOf(secret) });
  const timestamp = now.getTime();
  const difference = totp.validate({ token: code, window: toleratedSteps, timestamp });
  return difference === null ? null : totp.counter({ timestamp }) + difference;
}

export const recoveryCodeBytes = 10;

/** A recovery code as it is shown: 16 letters and digits in four groups. */
export function recoveryCodeOf(bytes: Buffer): string {
  return (secretOf(bytes).base32.toLowerCase().match(/.{4}/g) ?? []).join("-");
}

/** A typed code without blanks and hyphens, in lower case. */
export function plainCode(otp: string): string {
  return otp.replace(/[\s-]/g, "").toLowerCase();
}

/** The stored hash of a recovery code, independent of its spelling. */
export function hashRecoveryCode(code: string): Buffer {
  return createHash("sha256").update(plainCode(code)).digest();
}

function secretOf(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
