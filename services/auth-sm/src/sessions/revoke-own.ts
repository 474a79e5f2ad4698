import { ServiceError } from "@coffer/errors";
import { type Call, uuidText } from "@coffer/http";
import { z } from "zod";
import { userActor } from "@coffer/service";
import { requireLastingSession } from "../access/lasting-session.ts";
import type { User } from "../callers/user.ts";
import type { Deps } from "../deps.ts";
import { type RevocationCause, revokeSession, revokeSessions } from "./revoke.ts";

export const sessionPath = z.object({ id: uuidText });
export const othersQuery = z.object({ others: z.literal("true") });

/**
 * DELETE /api/auth/sessions/{id}
 * Ends one of the caller's own sessions, possibly the current one.
 */
export async function revokeOwnSession(
  deps: Deps,
  { caller, params, request }: Call<User, z.infer<typeof sessionPath>>,
): Promise<void> {
  const revocation = await deps.database.transaction(async (tx) => {
    const { userId, all } = await requireLastingSession(tx, caller, deps.now());
    if (!all.includes(params.id)) throw new ServiceError("not_found", "session not found");
    return revokeSession(tx, deps, { session: { id: params.id, userId }, ...causeOf(caller, request) });
  });
  if (revocation !== null) await deps.announcer.announce([revocation]);
}

/** DELETE /api/auth/sessions?others=true: Ends all of the caller's sessions but the current one. */
export async function revokeOtherSessions(deps: Deps, { caller, request }: Call<User>): Promise<void> {
  const revocations = await deps.database.transaction(async (tx) => {
    const { userId, sessionId: except } = await requireLastingSession(tx, caller, deps.now());
    return revokeSessions(tx, deps, { userId, except, ...causeOf(caller, request) });
  });
  await deps.announcer.announce(revocations);
}

function causeOf(caller: User, request: Call<User>["request"]): RevocationCause {
  return { reason: "user_revoked", actor: userActor(caller), request, status: 204 };
}
