import { planNames, revocationReasons } from "@coffer/contract";
import { z } from "zod";
import { type EventSubject, everyServiceBut, type RpcSubject } from "./subject.ts";

/** The public keys that verify people's access tokens, as a JSON Web Key Set (RFC 7517). */
export const signingKeys = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.signing-keys",
  responder: "auth-sm",
  callers: everyServiceBut("auth-sm"),
  input: z.object({}),
  output: z.object({
    keys: z.array(
      z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string(), kid: z.string() }),
    ),
  }),
} satisfies RpcSubject<unknown, unknown>;

/**
 * A person's membership of an organization, or without `org_id` the oldest one. `null` if the
 * session has ended or there is none.
 */
export const membershipOf = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.membership",
  responder: "auth-sm",
  callers: everyServiceBut("auth-sm"),
  input: z.object({ user_id: z.string(), session_id: z.string(), org_id: z.string().optional() }),
  output: z.object({
    session_active: z.boolean(),
    has_organization: z.boolean(),
    membership: z
      .object({
        org_id: z.string(),
        role: z.enum(["owner", "admin", "auditor", "member"]),
        status: z.enum(["active", "suspended"]),
        plan: z.enum(planNames),
      })
      .nullable(),
  }),
} satisfies RpcSubject<unknown, unknown>;

/**
 * A page of the sessions that ended at or after a moment (ISO 8601), the oldest first, for services
 * whose Redis is away or empty. `since` and `after` of the last session request the next page.
 */
export const revokedSessions = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.revoked-sessions",
  responder: "auth-sm",
  callers: everyServiceBut("auth-sm"),
  input: z.object({ since: z.iso.datetime(), after: z.uuid().optional() }),
  output: z.object({
    sessions: z.array(z.object({ session_id: z.string(), at: z.string() })),
    has_more: z.boolean(),
  }),
} satisfies RpcSubject<unknown, unknown>;

const revocation = z.object({
  session_id: z.string(),
  user_id: z.string(),
  at: z.string(),
  reason: z.enum(revocationReasons),
});

/**
 * A session was revoked: refuse its access tokens. `at` is an ISO 8601 timestamp. An unknown reason
 * reads as `user_revoked`.
 */
export const sessionRevoked = {
  kind: "event",
  subject: "coffer.evt.session.revoked",
  publisher: "auth-sm",
  consumers: everyServiceBut("auth-sm"),
  payload: revocation,
  received: revocation.extend({ reason: revocation.shape.reason.catch("user_revoked") }),
} satisfies EventSubject<unknown>;
