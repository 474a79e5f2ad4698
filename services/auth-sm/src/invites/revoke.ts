import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { transactionInSession } from "../access/lasting-session.ts";
import { requireMembersLocked, requireRankOver } from "../access/members.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { deleteInvite, findInvite } from "../store/organizations/invites.ts";
import type { InvitePath } from "./bodies.ts";

/** DELETE /api/org/invites/{id} */
export function revokeInvite(deps: Deps, { caller, params, audit }: AuditedCall<User, InvitePath>): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const { orgId, role, actor } = await requireMembersLocked(tx, caller, managers);
    const found = await findInvite(tx, orgId, params.id, deps.now());
    if (found === null) throw new ServiceError("not_found", "invitation not found");
    const invite = requireRankOver(role, found);
    await deleteInvite(tx, invite);
    await enqueueAudit(
      tx,
      audit({
        orgId,
        actor,
        target: { parent_id: orgId },
        reason: "invite_withdrawn",
        changes: { email: invite.email, role: invite.role },
      }),
    );
  });
}
