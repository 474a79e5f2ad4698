import { z } from "zod";
import { planNames } from "./plans.ts";
import type { EventSubject, RpcSubject } from "./subject.ts";
import { everyServiceBut } from "./subject.ts";

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
 * What a person is in an organization: the one named, or without `org_id` the oldest membership. `null` when the
 * session has ended or there is no such membership.
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
 * Sessions that were ended at or after a moment (ISO 8601), the oldest first, a page: for who cannot read them in Redis,
 * or starts with a Redis that knows nothing. The next page is asked for with `since` and `after` of the last one.
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
  reason: z.enum([
    "logged_out",
    "admin_revoked",
    "user_revoked",
    "password_changed",
    "second_factor_changed",
    "token_reused",
    "member_removed",
    "member_suspended",
  ]),
});

/**
 * A session ended before its time: its access tokens are refused from now on. `at` is an ISO 8601 timestamp. A reason
 * that a consumer does not know reads as `user_revoked`: the revocation counts, whoever gave it.
 */
export const sessionRevoked = {
  kind: "event",
  subject: "coffer.evt.session.revoked",
  publisher: "auth-sm",
  consumers: everyServiceBut("auth-sm"),
  payload: revocation,
  received: revocation.extend({ reason: revocation.shape.reason.catch("user_revoked") }),
} satisfies EventSubject<unknown>;
