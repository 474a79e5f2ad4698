import type { Histories } from "./histories.ts";
import type { Head, HolderId, HistoryState, Resource } from "@coffer/history";

/** What a device trusts of one history. Plain JSON. */
export interface Trusted {
  /** The newest entry that was verified: nothing older is believed again. */
  pin: Head;
  /** The state after the pinned entry; null while only another device of the person has verified it. */
  state: HistoryState | null;
  /** A later entry that another device has verified: the history must contain it. */
  expect?: Head | undefined;
  /** Whether the person or machine has made the folder or vault, or accepted it. */
  accepted: boolean;
  /** The signer of the entry that made the caller a holder, with the key of that time. */
  given?: { by: HolderId; key: string } | undefined;
  /** The hash of the organization's entry by which the signers were last checked: when it goes on, they are checked again. */
  checked_by?: string | undefined;
  /** Up to this entry every holder had a sealed key: there is nothing to seal. */
  sealed_until?: number | undefined;
  /** Holders whose access the caller has ended, and whom the history still names: they get no later key. */
  ended?: HolderId[] | undefined;
  /** Of a vault: the version of its `sealed_pin` that this device saw last. */
  pin_version?: number | undefined;
  /** Of a vault: what that `sealed_pin` says. Undefined when this device is to write the next one. */
  told?: { seq: number; accepted: boolean } | undefined;
}

/** All that a device trusts, of one person or machine at one service. Plain JSON. */
export interface TrustRecord {
  version: 1;
  /** The version of the keyring that this device saw last; 0 for none. */
  keyring: number;
  /** Whether the keyring on the service lacks something of this record. */
  unsaved: boolean;
  /** The organization that calls without a choice are about, as the service said first; another one is refused. */
  organization?: string | undefined;
  resources: Record<string, Trusted>;
}

/** Where a device keeps what it trusts. What `change` returns is durable: the device uses a key only after it. */
export interface TrustStorage {
  /** All that is kept; `emptyTrust` when nothing is. Throws when it cannot be read. */
  load(): Promise<TrustRecord>;
  /** Replaces what is kept, with no other process in between, and returns it as it is then. Throws when it cannot. */
  change(change: (before: TrustRecord) => TrustRecord): Promise<TrustRecord>;
}

export function emptyTrust(): TrustRecord {
  return { version: 1, keyring: 0, unsaved: false, resources: {} };
}

/** What is kept of a history; undefined when nothing is. */
export function trustedIn(record: TrustRecord, res: Resource): Trusted | undefined {
  return Object.hasOwn(record.resources, res) ? record.resources[res] : undefined;
}

/** A record with what it keeps of one history replaced. */
export function withTrusted(record: TrustRecord, res: Resource, trusted: Trusted): TrustRecord {
  return { ...record, resources: { ...record.resources, [res]: trusted } };
}

/** Forgets all vaults but these: what travel mode hides leaves no trace. */
export function forgetVaultsBut(histories: Pick<Histories, "forget">, vaultIds: readonly string[]): Promise<void> {
  return histories.forget((res) => res.startsWith("vault:") && !vaultIds.includes(res.slice("vault:".length)));
}

/** Keeps what is trusted in memory: for a program that begins from the keyring each time. */
export function memoryTrust(record: TrustRecord = emptyTrust()): TrustStorage {
  let held = record;
  return {
    load: () => Promise.resolve(held),
    change(change) {
      held = change(held);
      return Promise.resolve(held);
    },
  };
}
