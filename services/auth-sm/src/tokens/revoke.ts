import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { enqueueAudit } from "@coffer/outbox";
import { requireLockedApplication } from "../access/application.ts";
import { transactionInSession } from "../access/lasting-session.ts";
import { managers } from "../access/membership.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { lockAccessToken } from "../store/machines/access-tokens.ts";
import { holdApplication } from "../store/machines/applications.ts";
import { markTokenRevoked } from "../store/machines/token-spending.ts";
import type { TokenPath } from "./bodies.ts";

/**
 * DELETE /api/org/applications/{id}/tokens/{token_id}
 * Idempotent. A used token is a conflict, because revoking it does not stop its machine.
 */
export function revokeToken(deps: Deps, { caller, params, audit }: AuditedCall<User, TokenPath>): Promise<void> {
  return transactionInSession(deps, caller, async (tx) => {
    const reached = await requireLockedApplication(tx, caller, params.id, { allowed: managers, lock: holdApplication });
    const { orgId, actor, application } = reached;
    const token = await lockAccessToken(tx, application.id, params.token_id);
    if (token === null) throw new ServiceError("not_found", "token not found");
    if (token.used) throw new ServiceError("conflict", "the token is spent: revoke the client that it made");
    if (token.revoked) return;
    await markTokenRevoked(tx, token.id, deps.now());
    await enqueueAudit(tx, audit({ orgId, actor }));
  });
}
