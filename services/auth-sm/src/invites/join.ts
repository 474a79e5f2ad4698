import { ServiceError } from "@coffer/errors";
import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { addMember } from "../members/add.ts";
import { type OwnInvite, spendInvite } from "../store/organizations/invites.ts";

/**
 * Consumes a claimed invitation and makes the person a member.
 * @throws ServiceError `conflict` when the person is a member already
 */
export async function joinOrg(
  tx: Transaction,
  deps: Deps,
  {
    invite,
    userId,
    actor,
    request,
    status,
    chains = [],
  }: {
    invite: OwnInvite;
    userId: string;
    actor: Actor;
    request: RequestContext;
    status: number;
    /** Further audit chains that get the record. */
    chains?: readonly (string | null)[];
  },
): Promise<void> {
  const { id, org_id: orgId, role, invited_by } = invite;
  if (!(await addMember(tx, deps, { orgId, userId, role }))) {
    throw new ServiceError("conflict", "you are a member of this organization already");
  }
  await spendInvite(tx, invite);
  const entry = {
    action: "org.member.accepted",
    actor,
    target: { type: "user", id: userId, parent_id: orgId },
    status,
    changes: { role, invite_id: id, invited_by },
  } as const;
  for (const org_id of [orgId, ...chains]) await enqueueAudit(tx, auditOf(deps, request, { org_id, ...entry }));
}
