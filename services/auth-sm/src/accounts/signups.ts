import { ServiceError } from "@coffer/errors";
import type { Config } from "../config.ts";

/**
 * Refuses to make an account when `COFFER_SIGNUPS` does not let everybody register.
 * @throws ServiceError `registration_closed`
 */
export function requireOpenSignups({ COFFER_SIGNUPS: signups }: Config): void {
  if (signups === "open") return;
  throw new ServiceError(
    "registration_closed",
    signups === "invite" ? "registration needs an invitation" : "registration is closed on this server",
  );
}
