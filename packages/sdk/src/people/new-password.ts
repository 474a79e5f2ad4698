import { CofferError } from "../errors.ts";

/**
 * The minimum length of a new password in characters. The service never sees a password, so only
 * clients can check.
 */
export const shortestPassword = 10;

/** Throws CofferError `invalid_request` for a short password. */
export function checkNewPassword(password: string): void {
  if (Array.from(password).length < shortestPassword)
    throw new CofferError("invalid_request", `a password has at least ${shortestPassword} characters`);
}
