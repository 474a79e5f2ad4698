import { z } from "zod";
import type { EventSubject, RpcSubject } from "./subject.ts";
import { only } from "./subject.ts";

/**
 * What a person is in an organization, as auth-sm knows it. `version` grows with every change of it, over removal and
 * return too: of two of one person in one organization the greater is the newer. `removed` is nobody's member.
 */
export const membership = z.object({
  org_id: z.uuid(),
  user_id: z.uuid(),
  role: z.enum(["owner", "admin", "auditor", "member"]),
  status: z.enum(["active", "suspended", "removed"]),
  name: z.string(),
  email: z.string(),
  joined_at: z.string(),
  version: z.int().positive(),
});
export type Membership = z.infer<typeof membership>;

/** A membership as it is read: the role or the status of a newer auth-sm is null, and keeps no other from being read. */
const receivedMembership = membership.extend({
  role: membership.shape.role.nullable().catch(null),
  status: membership.shape.status.nullable().catch(null),
});
export type ReceivedMembership = z.infer<typeof receivedMembership>;

/** Whether all of it is understood. */
export function isUnderstood(received: ReceivedMembership): received is Membership {
  return received.role !== null && received.status !== null;
}

/** With the longest names and e-mails the answer about so many stays under what the bus carries. */
export const mostNamed = 300;

const membershipPage = z.object({
  memberships: z.array(membership),
  as_of: z.int().nonnegative(),
  after: z.string().nullable(),
});

/**
 * All memberships there are, a page: for who keeps a copy and has missed changes of it. The next page is asked for with
 * the `after` of the last one; the first answer's `as_of` is a version that no membership had reached which is missing
 * from the pages although it lasts.
 */
export const memberships = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.memberships",
  responder: "auth-sm",
  callers: only("vaults"),
  input: z.object({ after: z.string().nullable() }),
  output: membershipPage,
  received: membershipPage.extend({ memberships: z.array(receivedMembership) }),
} satisfies RpcSubject<unknown, unknown>;

/** Of these memberships those that last, as they are now: for who doubts some and does not need to see all. */
export const namedMemberships = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.named-memberships",
  responder: "auth-sm",
  callers: only("vaults"),
  input: z.object({
    named: z
      .array(membership.pick({ org_id: true, user_id: true }))
      .min(1)
      .max(mostNamed),
  }),
  output: z.object({ memberships: z.array(membership) }),
  received: z.object({ memberships: z.array(receivedMembership) }),
} satisfies RpcSubject<unknown, unknown>;

/** Who may see a folder now, a page; the next one is asked for with the `after` of the last. */
export const folderHolders = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.folder-holders",
  responder: "auth-sm",
  callers: only("sync"),
  input: z.object({ folder_id: z.guid(), after: z.string().nullable() }),
  output: z.object({ user_ids: z.array(z.string()), after: z.string().nullable() }),
} satisfies RpcSubject<unknown, unknown>;

const folderNews = z.object({
  /** By which news are known that are heard of once more; a publisher of an earlier version gives none. */
  id: z.string().optional(),
  folder_id: z.guid(),
  change: z.enum(["metadata", "membership", "key", "secrets"]),
  updated_at: z.string(),
  /** People to tell although they may not see it any more. */
  user_ids: z.array(z.string()),
});

/**
 * A folder, its members, its key or its secrets changed: for its holders, and for `user_ids`. A change that a consumer
 * does not know reads as `metadata`.
 */
export const folderChanged = {
  kind: "event",
  subject: "coffer.evt.folder.changed",
  publisher: "auth-sm",
  consumers: only("sync"),
  payload: folderNews,
  received: folderNews.extend({ change: folderNews.shape.change.catch("metadata") }),
} satisfies EventSubject<unknown>;

/**
 * What was told of folders since a moment that an earlier answer named as its `until` (null: only names the present
 * one), in parts: as long as the answer has an `after`, the same question with that `after` gives the next. Something may
 * be told twice, nothing is left out. `reset`: it is not known any more what was told since then.
 */
export const folderNewsSince = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.folder-news",
  responder: "auth-sm",
  callers: only("sync"),
  input: z.object({ since: z.string().nullable(), after: z.string().nullable() }),
  output: z.object({
    folders: z.array(folderChanged.received),
    until: z.string(),
    reset: z.boolean(),
    after: z.string().nullable(),
  }),
} satisfies RpcSubject<unknown, unknown>;
