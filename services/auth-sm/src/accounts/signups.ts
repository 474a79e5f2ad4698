import { ServiceError } from "@coffer/errors";
import type { Config } from "../config.ts";

/**
 * Refuses to start a registration where registration is closed. The invitation is checked at the
 * finish.
 * @throws ServiceError `registration_closed`
 */
export function requireSignups({ COFFER_SIGNUPS: signups }: Config): void {
  if (signups === "closed") throw new ServiceError("registration_closed", "registration is closed on this server");
}

/**
 * Refuses to create an account when `COFFER_SIGNUPS` needs an invitation and the request has none.
 * @throws ServiceError `registration_closed`
 */
export function requireSignupBy(config: Config, inviteToken: string | undefined): void {
  requireSignups(config);
  if (config.COFFER_SIGNUPS === "invite" && inviteToken === undefined) {
    throw new ServiceError("registration_closed", "registration needs an invitation");
  }
}
