import type { VaultView } from "../vaults/views.ts";
import { isNewer } from "./newer.ts";

/** A record as it is held, sealed. */
export interface HeldRecord {
  id: string;
  vault_id: string;
  type: string;
  encrypted_data: string;
  /** Assigned by the server at each write: of two versions the later one is the record. */
  updated_at: string;
}

/** What a device holds of its person's vaults, sealed. */
export interface Replica {
  /** Up to where it is complete, by the service's word; undefined before the first answer. */
  serverTime: string | undefined;
  /** When everything came the last time, in Unix milliseconds by this machine's clock; undefined when it never did. */
  wholeAt?: number | undefined;
  vaults: Map<string, VaultView>;
  records: Map<string, HeldRecord>;
  /** While everything comes anew: what was held before and has not come again yet. */
  before: Map<string, HeldRecord> | undefined;
  /** Records that could not be opened: what is to be told once they can. */
  untold: Map<string, Untold>;
}

export interface Untold {
  action: RecordChange["action"];
  /** The version of the vault's key that did not open it; null when there was no key that could be used. */
  tried: number | null;
}

export interface RecordChange {
  action: "record_created" | "record_updated";
  record: HeldRecord;
}

/** What became of the replica; a vault that is gone takes its records with it. */
export type ReplicaChange =
  | RecordChange
  | { action: "record_deleted"; record_id: string; vault_id: string }
  | { action: "vault_created"; vault_id: string }
  | { action: "vault_updated"; vault_id: string }
  | { action: "vault_deleted"; vault_id: string }
  /** Nothing of a folder is held; the word is passed on. */
  | { action: "folder_updated"; folder_id: string; change: string };

/** Changes the replica, at once and whole, and says what became of it. */
export type Step = () => ReplicaChange[];

export function emptyReplica(): Replica {
  return { serverTime: undefined, vaults: new Map(), records: new Map(), before: undefined, untold: new Map() };
}

/** Everything comes anew: what is held is cleared, and remembered until it is known what came again. */
export function beginAnew(replica: Replica): void {
  replica.before = new Map([...(replica.before ?? []), ...replica.records]);
  replica.records.clear();
  replica.serverTime = undefined;
}

/** Everything has come: what did not come again is gone. */
export function finishAnew(replica: Replica): ReplicaChange[] {
  const gone = [...(replica.before?.values() ?? [])];
  replica.before = undefined;
  return gone.map(deletionOf);
}

/**
 * Takes a version of a record, unless the one that is held is the same or later. When everything comes anew, what comes
 * counts, also when it is older than what was held before: it is from a database that was restored.
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

/** Forgets a vault with its records, without a word about each. */
export function dropVault(replica: Replica, id: string): ReplicaChange[] {
  for (const records of [replica.records, replica.before ?? new Map<string, HeldRecord>()])
    for (const record of records.values()) if (record.vault_id === id) records.delete(record.id);
  return replica.vaults.delete(id) ? [{ action: "vault_deleted", vault_id: id }] : [];
}

/** The vaults are these and no others. */
export function setVaults(replica: Replica, views: readonly VaultView[]): ReplicaChange[] {
  const present = new Set(views.map(({ id }) => id));
  const gone = [...replica.vaults.keys()].filter((id) => !present.has(id));
  return [...gone.flatMap((id) => dropVault(replica, id)), ...views.flatMap((view) => putVault(replica, view))];
}

/** All records that are held; while everything comes anew also those that have not come again yet. */
export function heldRecords({ records, before }: Replica): HeldRecord[] {
  return [...records.values(), ...(before?.values() ?? [])];
}

/** What is to be told yet. Of what is gone meanwhile nothing is. */
export function untoldChanges(replica: Replica): (RecordChange & Untold)[] {
  return [...replica.untold].flatMap(([id, untold]) => {
    const record = heldRecord(replica, id);
    if (record === undefined) replica.untold.delete(id);
    return record === undefined ? [] : [{ ...untold, record }];
  });
}

export function heldRecord({ records, before }: Replica, id: string): HeldRecord | undefined {
  return records.get(id) ?? before?.get(id);
}

/** How many records are held of each vault. */
export function recordCounts(replica: Replica): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { vault_id: id } of heldRecords(replica)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function deletionOf({ id, vault_id }: HeldRecord): ReplicaChange {
  return { action: "record_deleted", record_id: id, vault_id };
}

/** The number of records is counted here, and is no change of a vault. */
function isSame(one: VaultView, other: VaultView): boolean {
  const shown = ({ name, type, permission, safe_for_travel, key_version, encrypted_key }: VaultView): string =>
    JSON.stringify([name, type, permission, safe_for_travel, key_version, encrypted_key]);
  return shown(one) === shown(other);
}
