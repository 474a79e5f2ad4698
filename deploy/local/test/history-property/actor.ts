import { emptyTrust } from "@coffer/sdk";
import type { TrustRecord, TrustStorage } from "@coffer/sdk";
import type { Lie } from "./liar.ts";
import type { Res, Who } from "./truth.ts";

/** A device of a person, or a machine: what keeps its own trust. */
export interface Actor {
  readonly name: string;
  who: Who;
  publicKey: string;
  privateKey: Uint8Array;
  /** Of a person: opens what is boxed for the person. */
  readonly userKey: Uint8Array | undefined;
  /** What the actor keeps now. */
  record(): TrustRecord;
  /** The newest entries of each history that it has verified, or that another device has told it. */
  readonly seen: Map<Res, readonly string[]>;
  /** The version of the keyring that it saw last. */
  seenKeyring: number;
  /** What it gives up in this deed by a documented step; undefined for everything. */
  readonly givesUp: Set<Res | undefined>;
  /** The versions of the keyring, and of pins of vaults, that it has sent itself, and the service has acknowledged. */
  readonly sentKeyrings: Set<number>;
  readonly sentPins: Set<string>;
  /** What the service does to it in the present deed. */
  lies: readonly Lie[];
  /** Of a person: the folders that all devices of the person have accepted. */
  readonly accepted: Set<Res>;
}

/** Where an actor keeps what it trusts: each read and write copies, as a file does. */
export interface KeptTrust extends TrustStorage {
  now(): TrustRecord;
}

export function keptTrust(begin: TrustRecord = emptyTrust(), changed?: (record: TrustRecord) => void): KeptTrust {
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
