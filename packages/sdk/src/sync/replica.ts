import type { VaultView } from "../vaults/views.ts";
import { isNewer } from "./newer.ts";

/** A stored record, sealed. */
export interface HeldRecord {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  /** Assigned by the server at each write. The later of two versions is the record. */
  updated_at: string;
}

/** A device's sealed copy of its person's vaults. */
export interface Replica {
  /**
   * The moment up to which it is complete, as the service states it; undefined before the first
   * response.
   */
  serverTime: string | undefined;
  /**
   * When the last full sync completed, in Unix milliseconds by this machine's clock; undefined for
   * never.
   */
  wholeAt?: number | undefined;
  vaults: Map<string, VaultView>;
  records: Map<string, HeldRecord>;
  /** During a full sync: the records from before that have not been received again yet. */
  before: Map<string, HeldRecord> | undefined;
  /** Records that could not be opened. They are reported once they can be. */
  unreported: Map<string, Unreported>;
}

export interface Unreported {
  action: RecordChange["action"];
  /** The version of the vault's key that did not open it; null when there was no usable key. */
  tried: number | null;
}

export interface RecordChange {
  action: "record_created" | "record_updated";
  record: HeldRecord;
}

/** A change of the replica. A deleted vault takes its records with it. */
export type ReplicaChange =
  | RecordChange
  | { action: "record_deleted"; record_id: string; vault_id: string }
  | { action: "vault_created"; vault_id: string }
  | { action: "vault_updated"; vault_id: string }
  | { action: "vault_deleted"; vault_id: string }
  /** The replica contains nothing of folders. The event is passed on. */
  | { action: "folder_updated"; folder_id: string; change: string };

/** Changes the replica atomically, and returns the changes. */
export type Step = () => ReplicaChange[];

export function emptyReplica(): Replica {
  return { serverTime: undefined, vaults: new Map(), records: new Map(), before: undefined, unreported: new Map() };
}

/**
 * Starts a full sync: clears the records, and remembers them until it is known which are received
 * again.
 */
export function beginFullSync(replica: Replica): void {
  replica.before = new Map([...(replica.before ?? []), ...replica.records]);
  replica.records.clear();
  replica.serverTime = undefined;
}

/** Ends a full sync: records that were not received again are deleted. */
export function finishFullSync(replica: Replica): ReplicaChange[] {
  const gone = [...(replica.before?.values() ?? [])];
  replica.before = undefined;
  return gone.map(deletionOf);
}

/**
 * Stores a version of a record, unless the stored one is the same or later. During a full sync an
 * older version counts too: it comes from a restored database.
 */
export function putRecord(replica: Replica, record: HeldRecord): ReplicaChange[] {
  const held = replica.records.get(record.id);
  if (held !== undefined && !isNewer(record.updated_at, held.updated_at)) return [];
  const earlier = held ?? replica.before?.get(record.id);
  replica.before?.delete(record.id);
  replica.records.set(record.id, record);
  if (earlier === undefined) return [{ action: "record_created", record }];
  return record.updated_at === earlier.updated_at ? [] : [{ action: "record_updated", record }];
}

export function dropRecord(replica: Replica, id: string): ReplicaChange[] {
  const held = heldRecord(replica, id);
  replica.records.delete(id);
  replica.before?.delete(id);
  return held === undefined ? [] : [deletionOf(held)];
}

export function putVault(replica: Replica, view: VaultView): ReplicaChange[] {
  const held = replica.vaults.get(view.id);
  replica.vaults.set(view.id, view);
  if (held === undefined) return [{ action: "vault_created", vault_id: view.id }];
  return isSame(held, view) ? [] : [{ action: "vault_updated", vault_id: view.id }];
}

/** Deletes a vault with its records, without a change for each record. */
export function dropVault(replica: Replica, id: string): ReplicaChange[] {
  for (const records of [replica.records, replica.before ?? new Map<string, HeldRecord>()])
    for (const record of records.values()) if (record.vault_id === id) records.delete(record.id);
  return replica.vaults.delete(id) ? [{ action: "vault_deleted", vault_id: id }] : [];
}

/** Replaces the list of vaults. */
export function setVaults(replica: Replica, views: readonly VaultView[]): ReplicaChange[] {
  const present = new Set(views.map(({ id }) => id));
  const gone = [...replica.vaults.keys()].filter((id) => !present.has(id));
  return [...gone.flatMap((id) => dropVault(replica, id)), ...views.flatMap((view) => putVault(replica, view))];
}

/** All stored records, including those that a full sync has not received again yet. */
export function heldRecords({ records, before }: Replica): HeldRecord[] {
  return [...records.values(), ...(before?.values() ?? [])];
}

/** The unreported changes, without those of deleted records. */
export function unreportedChanges(replica: Replica): (RecordChange & Unreported)[] {
  return [...replica.unreported].flatMap(([id, unreported]) => {
    const record = heldRecord(replica, id);
    if (record === undefined) replica.unreported.delete(id);
    return record === undefined ? [] : [{ ...unreported, record }];
  });
}

export function heldRecord({ records, before }: Replica, id: string): HeldRecord | undefined {
  return records.get(id) ?? before?.get(id);
}

/** The number of stored records per vault. */
export function recordCounts(replica: Replica): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { vault_id: id } of heldRecords(replica)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function deletionOf({ id, vault_id }: HeldRecord): ReplicaChange {
  return { action: "record_deleted", record_id: id, vault_id };
}

/** The record count is computed here, so it is no change of a vault. */
function isSame(one: VaultView, other: VaultView): boolean {
  const shown = ({ name, type, permission, safe_for_travel, key_version, encrypted_key }: VaultView): string =>
    JSON.stringify([name, type, permission, safe_for_travel, key_version, encrypted_key]);
  return shown(one) === shown(other);
}
