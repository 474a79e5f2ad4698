import { folderChanges, memberStatuses, roles } from "@coffer/contract";
import { z } from "zod";
import { type EventSubject, only, type RpcSubject } from "./subject.ts";

/**
 * A person's membership of an organization. `version` grows with every change, also over removal
 * and return: the greater one is newer. A `removed` person is not a member.
 */
export const membership = z.object({
  org_id: z.uuid(),
  user_id: z.uuid(),
  role: z.enum(roles),
  status: z.enum([...memberStatuses, "removed"]),
  name: z.string(),
  email: z.string(),
  joined_at: z.string(),
  version: z.int().positive(),
});
export type Membership = z.infer<typeof membership>;

/** A received membership: an unknown role or status, of a newer auth-sm, is null. */
const receivedMembership = membership.extend({
  role: membership.shape.role.nullable().catch(null),
  status: membership.shape.status.nullable().catch(null),
});
export type ReceivedMembership = z.infer<typeof receivedMembership>;

/** Whether role and status are known. */
export function isUnderstood(received: ReceivedMembership): received is Membership {
  return received.role !== null && received.status !== null;
}

/** Bounds the response to the payload limit of the bus, with the longest names and e-mails. */
export const mostNamed = 300;

const membershipPage = z.object({
  memberships: z.array(membership),
  as_of: z.int().nonnegative(),
  after: z.string().nullable(),
});

/**
 * A page of all memberships, to reconcile a copy. `after` requests the next page. The `as_of` of
 * the first page is a version: a copied membership up to it that is in no page does not exist.
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

/** The present state of the named memberships; omits those that do not exist. */
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

/** A page of the people who may see a folder; `after` requests the next page. */
export const folderHolders = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.folder-holders",
  responder: "auth-sm",
  callers: only("sync"),
  input: z.object({ folder_id: z.guid(), after: z.string().nullable() }),
  output: z.object({ user_ids: z.array(z.string()), after: z.string().nullable() }),
} satisfies RpcSubject<unknown, unknown>;

const folderEvent = z.object({
  /** Identifies a repeated event; absent from an earlier version of the publisher. */
  id: z.string().optional(),
  folder_id: z.guid(),
  change: z.enum(folderChanges),
  updated_at: z.string(),
  /** Recipients who may not see the folder any more. */
  user_ids: z.array(z.string()),
});

/**
 * A folder, its members, key or secrets changed: for its holders and `user_ids`. An unknown change
 * reads as `metadata`.
 */
export const folderChanged = {
  kind: "event",
  subject: "coffer.evt.folder.changed",
  publisher: "auth-sm",
  consumers: only("sync"),
  payload: folderEvent,
  received: folderEvent.extend({ change: folderEvent.shape.change.catch("metadata") }),
} satisfies EventSubject<unknown>;

/**
 * A page of the folder events since the `until` of an earlier response (null: only the present
 * moment), for catch-up. `after` requests the next page. Events may repeat; none is missing.
 * `reset`: the events since then are unknown.
 */
export const folderCatchUpSince = {
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
