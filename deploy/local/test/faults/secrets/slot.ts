import type { Deed } from "../ledger.ts";

export interface Write extends Deed {
  /** The ciphertext that it leaves; null when it removes the secret. */
  content: string | null;
}

/** A secret, which one writer alone writes, with all that was tried on it in order. */
export interface Slot {
  uid: string;
  writes: Write[];
}

/** The place of the last acknowledged write; -1 without one. */
export function lastAcknowledged({ writes }: Slot): number {
  return writes.findLastIndex(({ acknowledged }) => acknowledged);
}

/** Whether somebody may read it: it was made for certain, and nobody has tried to remove it. */
export function isReadable({ writes }: Slot): boolean {
  return writes[0]?.acknowledged === true && writes.every(({ content }) => content !== null);
}
