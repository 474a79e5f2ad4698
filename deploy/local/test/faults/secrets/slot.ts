import type { Deed } from "../ledger.ts";

export interface Write extends Deed {
  /** The ciphertext that it leaves; null when it removes the secret. */
  content: string | null;
}

/** A secret of one writer, with all its attempted writes in order. */
export interface Slot {
  uid: string;
  writes: Write[];
}

/** The index of the last acknowledged write; -1 without one. */
export function lastAcknowledged({ writes }: Slot): number {
  return writes.findLastIndex(({ acknowledged }) => acknowledged);
}

/** Whether it can be read: it certainly exists, and no removal was attempted. */
export function isReadable({ writes }: Slot): boolean {
  return writes[0]?.acknowledged === true && writes.every(({ content }) => content !== null);
}
