/** One thing that was asked for, and whether it was acknowledged. */
export interface Attempt {
  requestId: string;
  /** What the audit must call it. */
  action: string;
  /** The secret that it was about; null for a list. */
  uid: string | null;
  /** 0 while there is no answer. */
  status: number;
}

export interface Write extends Attempt {
  /** The ciphertext that it leaves; null when it removes the secret. */
  content: string | null;
}

/** A secret, which one writer alone writes, with all that was tried on it in order. */
export interface Slot {
  uid: string;
  writes: Write[];
}

/** What one organization was asked for. */
export interface Ledger {
  attempts: Attempt[];
  slots: Slot[];
  /** What should never have been answered. */
  violations: string[];
  /** How much was acknowledged, by worker. */
  acknowledged: Map<string, number>;
}

export function newLedger(): Ledger {
  return { attempts: [], slots: [], violations: [], acknowledged: new Map() };
}

export function isAcknowledged({ status }: Attempt): boolean {
  return status >= 200 && status < 300;
}

/** The place of the last acknowledged write; -1 without one. */
export function lastAcknowledged({ writes }: Slot): number {
  return writes.findLastIndex(isAcknowledged);
}

/** Whether somebody may read it: it was made for certain, and nobody has tried to remove it. */
export function isReadable({ writes }: Slot): boolean {
  const [made] = writes;
  return made !== undefined && isAcknowledged(made) && writes.every(({ content }) => content !== null);
}
