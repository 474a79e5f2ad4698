import { ServiceError } from "@coffer/errors";
import type { Config } from "../config.ts";

/**
 * Refuses to begin to make an account where nobody can have one. An invitation is looked at when it is made.
 * @throws ServiceError `registration_closed`
 */
export function requireSignups({ COFFER_SIGNUPS: signups }: Config): void {
  if (signups === "closed") throw new ServiceError("registration_closed", "registration is closed on this server");
}

/**
 * Refuses to make an account where `COFFER_SIGNUPS` asks for an invitation and none is shown.
 * @throws ServiceError `registration_closed`
 */
export function requireSignupBy(config: Config, inviteToken: string | undefined): void {
  requireSignups(config);
  if (config.COFFER_SIGNUPS === "invite" && inviteToken === undefined) {
    throw new ServiceError("registration_closed", "registration needs an invitation");
  }
}
