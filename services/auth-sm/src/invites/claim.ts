import { ServiceError } from "@coffer/errors";
import { type Actor, type AuditEntry, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { ownInvite, requireInvite } from "../access/invite.ts";
import type { Deps } from "../deps.ts";
import { findInviteByToken, type OwnInvite, type PresentedInvite } from "../store/organizations/invites.ts";
import { lockMembers } from "../store/organizations/members.ts";
import { hashInviteToken } from "./token.ts";

/** A person who presents an invitation's token. */
export interface Presenter {
  token: string;
  /** The canonical e-mail of the person who wants to join. */
  email: string;
  actor: Actor;
  request: RequestContext;
}

/**
 * Finds the open invitation with this token and locks it: until the transaction ends it can be
 * neither accepted nor revoked elsewhere.
 * @returns for another person's invitation a refusal as a value, so that the transaction commits
 * its audit record
 * @throws ServiceError `not_found` when the token is unknown, expired, accepted, revoked or
 * replaced
 */
export async function claimInvite(
  tx: Transaction,
  deps: Deps,
  { token, email, actor, request }: Presenter,
): Promise<OwnInvite | ServiceError> {
  const hash = hashInviteToken(token);
  const found = await findInviteByToken(tx, hash, deps.now());
  if (found !== null) await lockMembers(tx, found.org_id);
  const invite = requireInvite(deps, found && (await findInviteByToken(tx, hash, deps.now())));
  const own = ownInvite(invite, email);
  if (own instanceof ServiceError) await enqueueAudit(tx, auditOf(deps, request, deniedInvite(invite, actor)));
  return own;
}

/** The audit record of a person who presents an invitation for another e-mail. */
export function deniedInvite(invite: PresentedInvite, actor: Actor): AuditEntry {
  return {
    org_id: invite.org_id,
    action: "org.member.accepted",
    actor,
    target: { type: "invite", id: invite.id, parent_id: invite.org_id },
    outcome: "denied",
    reason: "access_denied",
    status: 403,
  };
}
