import type { AuditAction, sessionRevoked as sessionRevokedSubject } from "@coffer/events";
import { sessionRevoked } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueue } from "@coffer/postgres";
import type { z } from "zod";
import { auditUserEvent } from "../accounts/user-events.ts";
import type { Actor } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { endSession } from "../store/sessions.ts";

export type RevocationReason = z.infer<typeof sessionRevokedSubject.payload>["reason"];

/** A session that has been ended: to be told to Redis (`deps.announcer`) once the transaction has committed. */
export interface Revocation {
  sessionId: string;
  at: Date;
}

/**
 * Ends a session before its time: its tokens are refused from the commit on. Everybody who keeps its connections hears
 * of it, and so does the audit.
 * @returns null when it had ended already
 */
export async function revokeSession(
  tx: Transaction,
  deps: Deps,
  revocation: {
    session: { id: string; userId: string };
    reason: RevocationReason;
    actor: Actor;
    request: RequestContext;
    /** The status of the answer to the call that ends it. */
    status: number;
  },
): Promise<Revocation | null> {
  const { session, reason, actor, request, status } = revocation;
  const at = deps.now();
  if (!(await endSession(tx, session.id, reason, at))) return null;
  const news = { session_id: session.id, user_id: session.userId, at: at.toISOString(), reason };
  await enqueue(tx, sessionRevoked, news, { id: deps.newId() });
  await auditUserEvent(tx, deps, request, session.userId, {
    action: actionOf(reason),
    actor,
    target: { type: "session", id: session.id, parent_id: session.userId },
    reason,
    status,
  });
  return { sessionId: session.id, at };
}

function actionOf(reason: RevocationReason): AuditAction {
  if (reason === "logged_out") return "user.logout";
  return reason === "token_reused" ? "session.reuse_detected" : "session.revoked";
}
