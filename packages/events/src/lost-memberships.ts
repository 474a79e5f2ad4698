import { z } from "zod";
import { membership } from "./organization-subjects.ts";

/**
 * Where vaults reads in Redis who was removed, suspended or made an auditor while the word of it waits for the bus in
 * auth-sm's outbox: a JSON list, newest first, of `mostLost` at most. auth-sm writes it again and again while any wait; it
 * lasts for seconds. Redis is not trusted: an entry is a reason to ask auth-sm about somebody, or to refuse until auth-sm can
 * be asked. So it says no more than whose membership it is, and which version of it took something away.
 */
export const lostMembershipsKey = "coffer:lost-memberships";
export const mostLost = 1000;

const lostMembership = membership.pick({ org_id: true, user_id: true, version: true });
export type LostMembership = z.infer<typeof lostMembership>;

/** The list as it is read: what is no entry is left out, and none of the others with it; so is what is too much. */
export const lostMemberships = z
  .array(z.unknown())
  .transform((entries) => entries.slice(0, mostLost))
  .pipe(z.array(lostMembership.nullable().catch(null)))
  .transform((entries) => entries.filter((entry) => entry !== null));
