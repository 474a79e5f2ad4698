import type { AuditAction } from "@coffer/contract";
import { sessionRevoked, type sessionRevoked as sessionRevokedSubject } from "@coffer/events";
import { type Actor, auditOf, type RequestContext } from "@coffer/http";
import { enqueue, enqueueAudit } from "@coffer/outbox";
import type { Transaction } from "@coffer/postgres";
import type { z } from "zod";
import { auditUserEvent } from "../accounts/user-events.ts";
import type { Deps } from "../deps.ts";
import { deleteCredentialOf, deleteOtherCredentials } from "../store/accounts/device-credentials.ts";
import { endSession, lockSessions } from "../store/accounts/sessions.ts";

export type RevocationReason = z.infer<typeof sessionRevokedSubject.payload>["reason"];

/** An ended session, to be written to Redis (`deps.announcer`) after the commit. */
export interface Revocation {
  sessionId: string;
  at: Date;
}

/** The reason and actor of a session's end. */
export interface RevocationCause {
  reason: RevocationReason;
  actor: Actor;
  request: RequestContext;
  /** The status of the response to the call that ends it. */
  status: number;
  /**
   * The organization whose administrator ends the session: only its chain gets the record, because
   * that administrator concerns no other organization. Without it every chain of the person gets
   * the record.
   */
  orgId?: string;
}

/**
 * Ends a session before it expires. Its tokens are refused from the commit on; the event reaches
 * services with open connections of the session, and the audit.
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
  // The device stays known after a logout: the next login comes from it.
  if (reason !== "logged_out") await deleteCredentialOf(tx, session.id);
  const event = { session_id: session.id, user_id: session.userId, at: at.toISOString(), reason };
  await enqueue(tx, sessionRevoked, event, { id: deps.newId() });
  const target = { type: "session", id: session.id, parent_id: session.userId };
  const entry = { action: actionOf(reason), actor, target, reason, status };
  if (orgId === undefined) await auditUserEvent(tx, deps, request, session.userId, entry);
  else await enqueueAudit(tx, auditOf(deps, request, { org_id: orgId, ...entry }));
  return { sessionId: session.id, at };
}

/**
 * Ends every active session of a person and deletes the credentials of all devices, except those of
 * the session `except`.
 */
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
