import { type Head, type HistoryState, type HolderId, holderOf, type Resource } from "@coffer/history";
import type { Departure, Left } from "../histories/left.ts";

/** A person who manages a folder, with the key that its history names. */
export interface Manager {
  who: HolderId;
  key: string;
}

/** A pin that the devices of a person share. */
export interface SharedPin extends Head {
  /** Its `checked_at`. */
  at?: number | undefined;
}

/** A device's trust in one history. Plain JSON. */
export interface Trusted {
  /** The newest verified entry. Older states are never accepted again. */
  pin: Head;
  /**
   * The state after the pinned entry; null while only another device of the person has verified it.
   */
  state: HistoryState | null;
  /** Later entries that other devices have verified. The history must contain all of them. */
  expect?: readonly SharedPin[] | undefined;
  /** Whether the person or machine has made or accepted the folder or vault. */
  accepted: boolean;
  /** The person has removed it with this device, and has not accepted it again since. */
  removed?: true | undefined;
  /**
   * Others that the person or machine used under its name when it was given the name: if the service
   * does not show them, the name means this one.
   */
  took?: readonly string[] | undefined;
  /**
   * The name under which the person or machine has accepted it, when others have renamed it since.
   */
  known_as?: string | undefined;
  /** The signer of the entry that named the caller, with that signer's key. */
  given?: { by: HolderId; key: string } | undefined;
  /**
   * For a machine: it accepted the folder because of its giver. Nobody was asked whether its name
   * means this folder.
   */
  unasked?: boolean | undefined;
  /** For a machine: the people who have managed the folder with that key, and do so no longer. */
  former_managers?: readonly Manager[] | undefined;
  /**
   * The hash of the organization's entry at the last check of the signers. A newer entry triggers
   * another check.
   */
  checked_by?: string | undefined;
  /**
   * For a folder or vault: the number of the organization's entry against which the pin was checked.
   * `left` has who left until then. Undefined when an earlier version made the pin.
   */
  checked_at?: number | undefined;
  /** Up to this entry every member and machine has the key, as the service said. */
  sealed_until?: number | undefined;
  /** When the service said so, in Unix milliseconds. */
  sealed_at?: number | undefined;
  /**
   * Members and machines whose access the caller has ended with this device. They get no later key, until the
   * caller gives it again, or this device signs an entry after which they have none.
   */
  ended?: HolderId[] | undefined;
  /**
   * People who left the organization when its history named no entry of this folder or vault for
   * them. The person's devices share it.
   */
  left?: readonly Left[] | undefined;
  /** For an organization: who left it, as far as this device has read the entries. */
  missed?: readonly Departure[] | undefined;
  /** For an organization: the `checked_at` of pins without one. By default all of `missed` counts. */
  since?: number | undefined;
  /** For a vault: the version of its `sealed_pin` that this device saw last. */
  pin_version?: number | undefined;
  /**
   * For a vault: the content of that `sealed_pin`. Undefined when this device must write the next
   * one.
   */
  told?: { seq: number; accepted: boolean; left?: readonly Left[] | undefined } | undefined;
}

/** Everything that a device trusts, for one person or machine at one service. Plain JSON. */
export interface TrustRecord {
  version: 1;
  /** The version of the keyring that this device saw last; 0 for none. */
  keyring: number;
  /** The folders that this version lists as accepted. */
  listed?: readonly string[] | undefined;
  /** Whether this record has changes that the keyring lacks. */
  unsaved: boolean;
  /**
   * The organization of calls without a choice, as the service first named it. Any other is
   * refused.
   */
  organization?: string | undefined;
  /** The pins of vaults that the device has forgotten because they were hidden. */
  hidden?: readonly string[] | undefined;
  /**
   * The machines that the caller has revoked with this device, also for histories that it does not
   * know yet.
   */
  revoked?: readonly HolderId[] | undefined;
  resources: Record<string, Trusted>;
}

/**
 * The storage of a device's trust. The result of `change` is durable before the device uses a key.
 */
export interface TrustStorage {
  /**
   * Everything that is stored; `emptyTrust` when there is nothing. Throws when it cannot be read.
   */
  load(): Promise<TrustRecord>;
  /**
   * Replaces the stored record atomically across processes, and returns the result. Throws when it
   * cannot.
   */
  change(change: (before: TrustRecord) => TrustRecord): Promise<TrustRecord>;
}

export function emptyTrust(): TrustRecord {
  return { version: 1, keyring: 0, unsaved: false, resources: {} };
}

/** The trust in a history; undefined when there is none. */
export function trustedIn(record: TrustRecord, res: Resource): Trusted | undefined {
  return Object.hasOwn(record.resources, res) ? record.resources[res] : undefined;
}

/** The record with one history changed; the same record when it does not hold that history. */
export function changedIn(record: TrustRecord, res: Resource, change: (before: Trusted) => Trusted): TrustRecord {
  const before = trustedIn(record, res);
  return before === undefined ? record : { ...record, resources: { ...record.resources, [res]: change(before) } };
}

/** Whether a person manages a folder with this key, by what is known of the folder's history. */
export function isManagerOf({ by, key }: NonNullable<Trusted["given"]>, { state }: Trusted): boolean {
  const manager = state === null ? undefined : holderOf(state, by);
  return manager?.perm === "manage" && manager.key === key;
}

/** The newest entry that this device or another one has verified. */
export function newestPin({
  pin,
  expect = [],
  checked_at: at,
}: Pick<Trusted, "pin" | "expect" | "checked_at">): SharedPin {
  return expect.reduce<SharedPin>((newest, one) => (one.seq > newest.seq ? one : newest), { ...pin, at });
}

/** With an entry that another device or process has verified; the same when it is older than this device's. */
export function withExpected(trusted: Trusted, pin: SharedPin): Trusted {
  const { pin: own, expect = [] } = trusted;
  const isKnown = [own, ...expect].some(({ seq, hash }) => seq === pin.seq && hash === pin.hash);
  return isKnown || pin.seq < own.seq ? trusted : { ...trusted, expect: [...expect, pin] };
}

export function withTrusted(record: TrustRecord, res: Resource, trusted: Trusted): TrustRecord {
  return { ...record, resources: { ...record.resources, [res]: trusted } };
}

/** Stores trust in memory, for a program that starts from the keyring each time. */
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
