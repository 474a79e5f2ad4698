import { z } from "zod";
import { membership } from "./organization-subjects.ts";

/**
 * The Redis key for restricted memberships (removed, suspended, made auditor) whose messages wait
 * in auth-sm's outbox: a JSON list, newest first, of at most `mostLost`. auth-sm rewrites it while
 * any wait; it expires in seconds. Redis is not trusted: for an entry, vaults requests the
 * membership from auth-sm, and refuses access until it answers. So an entry has only the ids and
 * the version.
 */
export const lostMembershipsKey = "coffer:lost-memberships";
export const mostLost = 1000;

const lostMembership = membership.pick({ org_id: true, user_id: true, version: true });
export type LostMembership = z.infer<typeof lostMembership>;

/** Parses the list. Skips malformed entries, and entries beyond `mostLost`. */
export const lostMemberships = z
  .array(z.unknown())
  .transform((entries) => entries.slice(0, mostLost))
  .pipe(z.array(lostMembership.nullable().catch(null)))
  .transform((entries) => entries.filter((entry) => entry !== null));

/**
 * The Redis key of revoked sessions: a sorted set of session ids, scored by the Unix milliseconds
 * of their end. auth-sm writes it, and drops entries older than the life of an access token.
 */
export const revokedSessionsKey = "coffer:revoked-sessions";
