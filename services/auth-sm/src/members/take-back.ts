import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/postgres";
import { rolesBelow } from "../access/members.ts";
import type { Actor } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { revokeTokensBy } from "../store/access-tokens.ts";
import { deleteInvitesBy } from "../store/invites.ts";
import type { Role } from "../store/memberships.ts";
import { roles } from "../store/memberships.ts";

/** Whose offers are taken back, and by which call. */
export interface TakingBack {
  orgId: string;
  userId: string;
  reason: string;
  actor: Actor;
  request: RequestContext;
  status: number;
}

/**
 * Takes back what a member has offered to others and can offer no more: whoever lost a role could else come back by an
 * invitation or as a machine.
 * @param held the member's role from now on; null for one who has none
 * @returns how many invitations were withdrawn
 */
export async function takeBackOffers(tx: Transaction, deps: Deps, held: Role | null, by: TakingBack): Promise<number> {
  const kept = held === null ? [] : rolesBelow(held);
  const { orgId, userId } = by;
  if (kept.length === 0) await takeBackTokens(tx, deps, by);
  return deleteInvitesBy(tx, { orgId, userId, to: roles.filter((role) => !kept.includes(role)) });
}

/** Revokes the unused one-time tokens that a member has issued: all of them, or those that name a folder. */
export async function takeBackTokens(
  tx: Transaction,
  deps: Deps,
  { orgId, userId, reason, actor, request, status }: TakingBack,
  folderId?: string,
): Promise<void> {
  const about = { orgId, userId, now: deps.now(), ...(folderId === undefined ? {} : { folderId }) };
  for (const { id, application_id } of await revokeTokensBy(tx, about)) {
    const target = { type: "token", id, parent_id: application_id };
    const entry = { org_id: orgId, action: "token.revoked", actor, target, reason, status } as const;
    await enqueueAudit(tx, auditOf(deps, request, entry));
  }
}
