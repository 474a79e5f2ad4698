import { recordActions, vaultActions } from "@coffer/contract";
import { z } from "zod";
import { receivedAuditDraft } from "./audit-record.ts";
import { membership } from "./organization-subjects.ts";
import { type EventSubject, only, type RpcSubject } from "./subject.ts";

// Client-made ids may have any UUID version (`z.guid`). Timestamps stay text: a number would lose
// microseconds.

/** A created or changed record (specification 2.5). */
export interface RecordChange {
  id: string;
  vault_id: string;
  action: "created" | "updated";
  type: string;
  encrypted_data: string;
  updated_at: string;
  server_timestamp: string;
}
/** A record that was deleted or became invisible (specification 2.5). */
export const recordDeletion = z.object({ id: z.string(), vault_id: z.string(), deleted_at: z.string() });
export type RecordDeletion = z.infer<typeof recordDeletion>;

/**
 * A part of a person's changes since `last_sync` (null: everything). `after` requests the next
 * part. `limit` counts the changes and deletions of all parts; if more exist, the last part has
 * `has_more`, and the client continues from its `server_time`. `changes` is the JSON of the
 * client's response, separated by commas, with the bytes of each change in `change_lengths`; sync
 * forwards it unparsed. `reset`: `last_sync` is unknown, and this is a full sync. The audit record
 * of a part is durable before the reply. `only_deleted`: only the deletions of the same response,
 * without a `limit`.
 */
export const changesSince = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.changes",
  responder: "vaults",
  callers: only("sync"),
  input: z.object({
    user_id: z.uuid(),
    last_sync: z.string().nullable(),
    limit: z.int().min(1).max(1000).nullable(),
    after: z.string().nullable(),
    only_deleted: z.boolean().optional(),
    /**
     * The device's connection. If the pages began on another connection, the last one has
     * `has_more` while newer changes exist, which were not pushed to this one. Absent from earlier
     * versions.
     */
    connection_id: z.uuid().optional(),
    /** The caller, for the audit record. */
    session_id: z.string(),
    request_id: z.string(),
    ip: z.string(),
    user_agent: z.string().nullable(),
  }),
  output: z.object({
    changes: z.instanceof(Uint8Array),
    change_lengths: z.array(z.int().positive()),
    deleted: z.array(recordDeletion),
    server_time: z.string(),
    has_more: z.boolean(),
    reset: z.boolean(),
    after: z.string().nullable(),
  }),
  raw: "changes",
} satisfies RpcSubject<unknown, unknown>;

const recordEvent = z.object({
  vault_id: z.guid(),
  /** At most 1,000. */
  changes: z
    .array(
      z.object({
        action: z.enum(recordActions),
        record_id: z.string(),
        updated_at: z.string(),
      }),
    )
    .min(1),
});

const vaultEvent = z.object({
  action: z.enum(vaultActions),
  vault_id: z.guid(),
  updated_at: z.string(),
  /**
   * The recipients; null: everyone who may see the vault. `vault_deleted` always names those who
   * lost it.
   */
  user_ids: z.array(z.string()).nullable(),
  /**
   * Recipients to skip if `user_ids` is null: the change gave them the vault, and they receive
   * `vault_created`. May be incomplete; absent from earlier versions.
   */
  except: z.array(z.string()).optional(),
});

/** Records of a vault were created, changed or deleted: for everyone who may see the vault. */
export const recordsChanged = {
  kind: "event",
  subject: "coffer.evt.record.changed",
  publisher: "vaults",
  consumers: only("sync"),
  payload: recordEvent,
} satisfies EventSubject<unknown>;

/** A vault changed, or became visible or invisible to people. */
export const vaultChanged = {
  kind: "event",
  subject: "coffer.evt.vault.changed",
  publisher: "vaults",
  consumers: only("sync"),
  payload: vaultEvent,
} satisfies EventSubject<unknown>;

/**
 * A page of all events since the `server_time` of an earlier response (null: only the present
 * moment), for catch-up. `after` requests the next page. `reset`: that moment is unknown.
 */
export const catchUpSince = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.news",
  responder: "vaults",
  callers: only("sync"),
  input: z.object({ since: z.string().nullable(), after: z.string().nullable() }),
  output: z.object({
    records: z.array(recordEvent),
    vaults: z.array(vaultEvent),
    server_time: z.string(),
    reset: z.boolean(),
    after: z.string().nullable(),
  }),
} satisfies RpcSubject<unknown, unknown>;

/** A page of the people who may see a vault; `after` requests the next page. */
export const vaultViewers = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.viewers",
  responder: "vaults",
  callers: only("sync", "auth-sm"),
  input: z.object({ vault_id: z.guid(), after: z.string().nullable() }),
  output: z.object({ user_ids: z.array(z.string()), after: z.string().nullable() }),
} satisfies RpcSubject<unknown, unknown>;

const travelMode = z.object({ enabled: z.boolean(), updated_at: z.string() });

/** A person's travel mode; `updated_at` is its last change, or 1970 if it never changed. */
export const travelModeOf = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.travel-mode",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ user_id: z.uuid() }),
  output: travelMode,
} satisfies RpcSubject<unknown, unknown>;

/**
 * Sets travel mode. The reply means that the change and its audit records are committed. Fails with
 * `invalid_token` if the session ends before the commit, and after `until`, by the clock of vaults,
 * when the caller has given up. Earlier versions of auth-sm send no `until`.
 */
export const setTravelMode = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.set-travel-mode",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({
    user_id: z.uuid(),
    enabled: z.boolean(),
    audit: z.array(receivedAuditDraft),
    session_id: z.string().optional(),
    until: z.iso.datetime().optional(),
    /** Refuses with `access_denied` if travel mode was on before this moment. */
    standing_since: z.iso.datetime().optional(),
  }),
  output: travelMode,
} satisfies RpcSubject<unknown, unknown>;

const changedMemberships = z.object({ memberships: z.array(membership).min(1) });

/** Changed memberships. The reply means that all are applied; an older version changes nothing. */
export const membershipChanged = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.membership-changed",
  responder: "vaults",
  callers: only("auth-sm"),
  input: changedMemberships,
  output: z.object({ kept: z.int().nonnegative() }),
  merge: (changes: readonly z.infer<typeof changedMemberships>[]) => ({
    memberships: changes.flatMap(({ memberships }) => memberships),
  }),
} satisfies RpcSubject<unknown, unknown>;

/**
 * The newest history entries of an organization's vaults in which the person is a holder, also
 * after a removal: hex SHA-256 of `vault:<id>` → number and hash of the entry.
 */
export const heldVaultHeads = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.heads",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ org_id: z.guid(), user_id: z.guid() }),
  output: z.object({ heads: z.record(z.string(), z.tuple([z.int().nonnegative(), z.string()])) }),
} satisfies RpcSubject<unknown, unknown>;

/**
 * The shared vaults whose history has the person as the only manager in the organization. The
 * caller decides who may read the names (`vaultViewers`).
 */
export const soleManagedVaults = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.sole-managed",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ org_id: z.guid(), user_id: z.guid() }),
  output: z.object({ vaults: z.array(z.object({ id: z.string(), name: z.string() })) }),
} satisfies RpcSubject<unknown, unknown>;
