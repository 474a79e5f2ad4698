import { emptyTrust, type TrustRecord, type TrustStorage } from "@coffer/sdk";
import type { Lie } from "./lie.ts";
import type { Res, Who } from "./truth.ts";

/** A device of a person, or a machine: it has its own trust. */
export interface Actor {
  readonly name: string;
  who: Who;
  publicKey: string;
  privateKey: Uint8Array;
  /** Of a person: opens boxes for the person. */
  readonly userKey: Uint8Array | undefined;
  /** The present trust of the actor. */
  record(): TrustRecord;
  /** The newest entries of each history that it has verified or read from another device. */
  readonly seen: Map<Res, readonly string[]>;
  /** The version of the keyring that it saw last. */
  seenKeyring: number;
  /** The history that it resets in this deed by a documented step; undefined for all of them. */
  readonly givesUp: Set<Res | undefined>;
  /** The versions of the keyring and of vault pins that it has sent, and the service has acknowledged. */
  readonly sentKeyrings: Set<number>;
  readonly sentPins: Set<string>;
  /** The lies of the service in the present deed. */
  lies: readonly Lie[];
  /** Of a person: the folders that all devices of the person have accepted. */
  readonly accepted: Set<Res>;
}

/** The storage of an actor's trust: each read and write copies, like a file. */
export interface StoredTrust extends TrustStorage {
  now(): TrustRecord;
}

export function storedTrust(begin: TrustRecord = emptyTrust(), changed?: (record: TrustRecord) => void): StoredTrust {
  let held = structuredClone(begin);
  return {
    now: () => held,
    load: () => Promise.resolve(structuredClone(held)),
    change(change) {
      held = structuredClone(change(structuredClone(held)));
      changed?.(held);
      return Promise.resolve(structuredClone(held));
    },
  };
}
