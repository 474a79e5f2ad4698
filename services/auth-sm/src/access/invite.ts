import { ServiceError } from "@coffer/errors";
import type { Deps } from "../deps.ts";
import type { OwnInvite, PresentedInvite } from "../store/organizations/invites.ts";

/** @throws ServiceError `not_found` when there is no open invitation with the presented token */
export function requireInvite(deps: Pick<Deps, "authFailures">, invite: PresentedInvite | null): PresentedInvite {
  if (invite !== null) return invite;
  deps.authFailures.inc({ reason: "unknown_invite" });
  throw new ServiceError("not_found", "there is no such invitation: it may have expired, or been used or revoked");
}

/**
 * An invitation as that of the person who presents its token.
 * @param email the canonical e-mail of the person
 * @returns the refusal of another person as a value, so that its audit record can be committed
 */
export function ownInvite(invite: PresentedInvite, email: string): OwnInvite | ServiceError {
  if (invite.email !== email) return new ServiceError("access_denied", "this invitation is for another e-mail");
  return invite as OwnInvite; // It is the person's own now.
}
