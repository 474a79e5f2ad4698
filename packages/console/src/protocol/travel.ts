// Travel mode.

import type { Proof } from "./account.ts";

/** A session of the person, on this or another device. */
export interface DeviceView {
  name: string;
  lastUsedAt: string;
  current: boolean;
}

export interface TravelView {
  enabled: boolean;
  /** Since when; null when it was never switched. */
  since: string | null;
  devices: DeviceView[];
}

/** Those with a Proof fail with `code_needed` when the account has a second factor and `code` is empty. */
export interface TravelCalls {
  travel(): TravelView;
  /** Whether a vault stays while the person travels. */
  setSafeForTravel(input: { vaultId: string; safe: boolean }): null;
  startTravel(): TravelView;
  stopTravel(proof: Proof): TravelView;
}
