import type { AuditAction, sessionRevoked as sessionRevokedSubject } from "@coffer/events";
import { sessionRevoked } from "@coffer/events";
import type { RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueue, enqueueAudit } from "@coffer/postgres";
import type { z } from "zod";
import { auditUserEvent } from "../accounts/user-events.ts";
import type { Actor } from "../audit.ts";
import { auditOf } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { deleteCredentialOf, deleteOtherCredentials } from "../store/device-credentials.ts";
import { endSession, lockSessions } from "../store/sessions.ts";

export type RevocationReason = z.infer<typeof sessionRevokedSubject.payload>["reason"];

/** A session that has been ended: to be told to Redis (`deps.announcer`) once the transaction has committed. */
export interface Revocation {
  sessionId: string;
  at: Date;
}

/** Why a session ends, and by whom. */
export interface RevocationCause {
  reason: RevocationReason;
  actor: Actor;
  request: RequestContext;
  /** The status of the answer to the call that ends it. */
  status: number;
  /**
   * The organization whose administrator ends it: the record is in its chain alone, since another organization of the
   * person has nothing to do with that administrator. Without it the record is in the chain of each.
   */
  orgId?: string;
}

/**
 * Ends a session before its time: its tokens are refused from the commit on. Everybody who keeps its connections hears
 * of it, and so does the audit.
 * @returns null when it had ended already
 */
export async function revokeSession(
  tx: Transaction,
  deps: Deps,
  { session, ...cause }: { session: { id: string; userId: string } } & RevocationCause,
): Promise<Revocation | null> {
  const { reason, actor, request, status, orgId } = cause;
  const at = deps.now();
  if (!(await endSession(tx, session.id, reason, at))) return null;
  // A logout leaves the device known: it is where the next login comes from.
  if (reason !== "logged_out") await deleteCredentialOf(tx, session.id);
  const news = { session_id: session.id, user_id: session.userId, at: at.toISOString(), reason };
  await enqueue(tx, sessionRevoked, news, { id: deps.newId() });
  const target = { type: "session", id: session.id, parent_id: session.userId };
  const entry = { action: actionOf(reason), actor, target, reason, status };
  if (orgId === undefined) await auditUserEvent(tx, deps, request, session.userId, entry);
  else await enqueueAudit(tx, auditOf(deps, request, { org_id: orgId, ...entry }));
  return { sessionId: session.id, at };
}

/** Ends every session of a person that lasts, and forgets every device, `except` for one when it is given. */
export async function revokeSessions(
  tx: Transaction,
  deps: Deps,
  { userId, except, ...cause }: { userId: string; except?: string } & RevocationCause,
): Promise<Revocation[]> {
  const revocations: Revocation[] = [];
  for (const id of await lockSessions(tx, userId, deps.now())) {
    const revocation = id === except ? null : await revokeSession(tx, deps, { session: { id, userId }, ...cause });
    if (revocation !== null) revocations.push(revocation);
  }
  await deleteOtherCredentials(tx, userId, except ?? null);
  return revocations;
}

function actionOf(reason: RevocationReason): AuditAction {
  if (reason === "logged_out") return "user.logout";
  return reason === "token_reused" ? "session.reuse_detected" : "session.revoked";
}
