import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import type { Deps } from "../deps.ts";
import { appendEntry } from "../histories/append-entry.ts";
import { orgRes, permissionOf } from "../histories/resources.ts";
import type { OwnInvite } from "../store/organizations/invites.ts";
import type { UserRow } from "../store/accounts/users.ts";
import type { Acceptance } from "./bodies.ts";
import { hashInviteToken } from "./token.ts";

export interface SignedJoin {
  invite: OwnInvite;
  user: Pick<UserRow, "id" | "email" | "public_key">;
  body: Pick<Acceptance, "token" | "entry">;
  actor: Actor;
  request: RequestContext;
}

/**
 * Appends a person's join to the organization's history, if there is one. The invitation's join key
 * and the person's own key sign it.
 * @throws ServiceError what `appendEntry` throws
 */
export async function signJoin(
  tx: Transaction,
  deps: Deps,
  { invite, user, body, actor, request }: SignedJoin,
): Promise<void> {
  const { org_id: orgId, role } = invite;
  const { id, email, public_key: key } = user;
  const permission = permissionOf(role);
  const state = await appendEntry(tx, {
    res: orgRes(orgId),
    orgId,
    entry: body.entry,
    by: `invite:${hashInviteToken(body.token).toString("hex")}`,
    expected: () => ({ set: [{ who: `user:${id}`, key, perm: permission, email }] }),
  });
  if (state === null) return;
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      org_id: orgId,
      action: "history.joined",
      actor,
      target: { type: "user", id, parent_id: orgId },
      status: 200,
      changes: { permission },
    }),
  );
}
