import { roles, type Role } from "@coffer/contract";
import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import { rolesBelow } from "../access/members.ts";
import type { Deps } from "../deps.ts";
import { revokeTokensBy } from "../store/machines/access-tokens.ts";
import { deleteInvitesBy } from "../store/organizations/invites.ts";

export interface OfferRevocation {
  orgId: string;
  userId: string;
  reason: string;
  actor: Actor;
  request: RequestContext;
  status: number;
}

/**
 * Revokes the invitations and one-time tokens of a member that exceed the member's new role.
 * Without this, a person who lost a role could return through an invitation or as a machine.
 * @param held the member's role from now on; null for a removed or suspended member
 * @returns how many invitations were revoked
 */
export async function revokeOffers(
  tx: Transaction,
  deps: Deps,
  held: Role | null,
  by: OfferRevocation,
): Promise<number> {
  const allowed = held === null ? [] : rolesBelow(held);
  const { orgId, userId } = by;
  if (allowed.length === 0) await revokeIssuedTokens(tx, deps, by);
  return deleteInvitesBy(tx, { orgId, userId, to: roles.filter((role) => !allowed.includes(role)) });
}

/**
 * Revokes the unused one-time tokens that a member has issued: all, or those that name a folder.
 */
export async function revokeIssuedTokens(
  tx: Transaction,
  deps: Deps,
  { orgId, userId, reason, actor, request, status }: OfferRevocation,
  folderId?: string,
): Promise<void> {
  const about = { orgId, userId, now: deps.now(), ...(folderId === undefined ? {} : { folderId }) };
  for (const { id, application_id } of await revokeTokensBy(tx, about)) {
    const target = { type: "token", id, parent_id: application_id };
    const entry = { org_id: orgId, action: "token.revoked", actor, target, reason, status } as const;
    await enqueueAudit(tx, auditOf(deps, request, entry));
  }
}
