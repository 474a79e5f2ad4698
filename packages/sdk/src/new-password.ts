import { CofferError } from "./errors.ts";

/** Characters that a new password has at least. The service never sees a password, so nobody else can look. */
export const shortestPassword = 10;

/** Throws CofferError `invalid_request` for a password that is too short to be anybody's new one. */
export function checkNewPassword(password: string): void {
  if (Array.from(password).length < shortestPassword)
    throw new CofferError("invalid_request", `a password has at least ${shortestPassword} characters`);
}
