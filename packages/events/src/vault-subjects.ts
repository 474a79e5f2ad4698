import { z } from "zod";
import { receivedAuditDraft } from "./audit-record.ts";
import { membership } from "./organization-subjects.ts";
import type { EventSubject, RpcSubject } from "./subject.ts";
import { only } from "./subject.ts";

// Ids that clients make are taken in any version (`z.guid`). Timestamps are text with microseconds from end to end: one that went through a number would come back as another.

/** A record that was made or changed (specification 2.5). */
export interface RecordChange {
  id: string;
  vault_id: string;
  action: "created" | "updated";
  type: string;
  encrypted_data: string;
  updated_at: string;
  server_timestamp: string;
}
/** A record that is gone, or out of sight (specification 2.5). */
export const recordDeletion = z.object({ id: z.string(), vault_id: z.string(), deleted_at: z.string() });
export type RecordDeletion = z.infer<typeof recordDeletion>;

/**
 * What changed for a person since `last_sync` (null: ever), in parts that fit the bus: as long as the answer has an
 * `after`, the same question with that `after` gives the next part; the last one's has none. `limit` is the client's, of
 * changes and deletions in all parts together; what is over it makes `has_more`, and `server_time` is then where the
 * client's next question continues. Both are those of the last part. `changes` are as the client's answer lists them, in JSON
 * with a comma between two, and `change_lengths` says how many bytes each has: they are written once, and pass through. `reset`: nothing of `last_sync` is known, this is everything. An audit record of
 * what the part holds is durable before the reply. `only_deleted`: of the same answer, which has no `limit`, from the same
 * place the deletions alone, for who has had the changes.
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
     * The device's connection. An answer that ends pages which began on another one has `has_more` while anything newer
     * exists: no push of this connection brings that. Versions before did not send it.
     */
    connection_id: z.uuid().optional(),
    /** Who asks, for the audit record. */
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

const recordNews = z.object({
  vault_id: z.guid(),
  /** At most 1,000. */
  changes: z
    .array(
      z.object({
        action: z.enum(["record_created", "record_updated", "record_deleted"]),
        record_id: z.string(),
        updated_at: z.string(),
      }),
    )
    .min(1),
});

const vaultNews = z.object({
  action: z.enum(["vault_created", "vault_updated", "vault_deleted"]),
  vault_id: z.guid(),
  updated_at: z.string(),
  /** Whom it concerns; null: everybody who may see the vault. `vault_deleted` always names those who lost it. */
  user_ids: z.array(z.string()).nullable(),
  /**
   * Whom of everybody it does not concern: the same change has given them the vault, and they are told that. Not always all of
   * them. A vaults of the version before does not say.
   */
  except: z.array(z.string()).optional(),
});

/** Records of a vault were made, changed or deleted: for everybody who may see the vault. */
export const recordsChanged = {
  kind: "event",
  subject: "coffer.evt.record.changed",
  publisher: "vaults",
  consumers: only("sync"),
  payload: recordNews,
} satisfies EventSubject<unknown>;

/** A vault changed, or came into or went out of somebody's sight. */
export const vaultChanged = {
  kind: "event",
  subject: "coffer.evt.vault.changed",
  publisher: "vaults",
  consumers: only("sync"),
  payload: vaultNews,
} satisfies EventSubject<unknown>;

/**
 * All news since a moment that an earlier answer named as its `server_time` (null: none, only tells the present one), in
 * parts as of `changesSince`: for who may have missed events. `reset`: that moment is not known any more.
 */
export const newsSince = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.news",
  responder: "vaults",
  callers: only("sync"),
  input: z.object({ since: z.string().nullable(), after: z.string().nullable() }),
  output: z.object({
    records: z.array(recordNews),
    vaults: z.array(vaultNews),
    server_time: z.string(),
    reset: z.boolean(),
    after: z.string().nullable(),
  }),
} satisfies RpcSubject<unknown, unknown>;

/** Who may see a vault now, a page; the next one is asked for with the `after` of the last. */
export const vaultViewers = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.viewers",
  responder: "vaults",
  callers: only("sync", "auth-sm"),
  input: z.object({ vault_id: z.guid(), after: z.string().nullable() }),
  output: z.object({ user_ids: z.array(z.string()), after: z.string().nullable() }),
} satisfies RpcSubject<unknown, unknown>;

const travelMode = z.object({ enabled: z.boolean(), updated_at: z.string() });

/** Whether a person travels; `updated_at` is when that last changed, or the beginning of time. */
export const travelModeOf = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.travel-mode",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ user_id: z.uuid() }),
  output: travelMode,
} satisfies RpcSubject<unknown, unknown>;

/**
 * Turns it on or off. The reply means that it is committed, with its audit records; nothing changes when it was so, nor when
 * the session of whoever wants it ends before the commit: then the answer is `invalid_token`. After `until`, by the clock of
 * vaults, it is not done any more: who asked has given up by then. An auth-sm of the version before does not say.
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
    /** A journey that began before this moment stays as it is: `access_denied`. */
    standing_since: z.iso.datetime().optional(),
  }),
  output: travelMode,
} satisfies RpcSubject<unknown, unknown>;

/** Memberships that began, changed or ended. The reply means that all are kept; an older version changes nothing. */
export const membershipChanged = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.membership-changed",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ memberships: z.array(membership).min(1) }),
  output: z.object({ kept: z.int().nonnegative() }),
} satisfies RpcSubject<unknown, unknown>;

/**
 * The newest entries of the histories of an organization's vaults in which this person is a holder, also when the person
 * is a member no more: hex SHA-256 of `vault:<id>` → number and hash of the entry.
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
 * The shared vaults of an organization whose history has this person as the only manager among the organization's members.
 * The caller decides who may read the names (`vaultViewers`).
 */
export const soleManagedVaults = {
  kind: "rpc",
  subject: "coffer.rpc.vaults.sole-managed",
  responder: "vaults",
  callers: only("auth-sm"),
  input: z.object({ org_id: z.guid(), user_id: z.guid() }),
  output: z.object({ vaults: z.array(z.object({ id: z.string(), name: z.string() })) }),
} satisfies RpcSubject<unknown, unknown>;
