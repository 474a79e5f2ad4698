import { ServiceError } from "@coffer/errors";
import type { AuditedCall } from "@coffer/http";
import { userActor } from "@coffer/service";
import type { ProofFields } from "../accounts/bodies.ts";
import { requireProof } from "../accounts/require-proof.ts";
import { auditInChains } from "../accounts/user-events.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { revokeSessions } from "../sessions/revoke.ts";
import { deleteTotp } from "../store/accounts/totp.ts";

/** DELETE /api/auth/totp: Every other session ends. */
export async function removeTotp(deps: Deps, call: AuditedCall<User, unknown, ProofFields>): Promise<void> {
  const { caller, request, audit } = call;
  const actor = userActor(caller);
  const revocations = await requireProof(deps, call, async (tx, { session: { userId, sessionId } }) => {
    if (!(await deleteTotp(tx, userId))) return new ServiceError("not_found", "there is no second factor");
    const cause = { reason: "second_factor_changed", actor, request, status: 204 } as const;
    const ended = await revokeSessions(tx, deps, { userId, except: sessionId, ...cause });
    await auditInChains(tx, userId, (orgId) => audit({ orgId, actor }));
    return ended;
  });
  await deps.announcer.announce(revocations);
}
