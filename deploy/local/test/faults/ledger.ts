/** One request for a deed. */
export interface Attempt {
  requestId: string;
  /** 0 while there is no answer. */
  status: number;
}

/** Something that is to be done once, however often it has to be asked for, and whether that was acknowledged. */
export interface Deed {
  /** What the audit must call it; null for what it does not tell. */
  action: string | null;
  /** The id of what it is about; null where that is not known, or not told. */
  target: string | null;
  attempts: Attempt[];
  acknowledged: boolean;
}

/** What one organization was asked for. */
export interface Ledger {
  deeds: Deed[];
  /** What should never have been answered. */
  violations: string[];
  /** How much was acknowledged, by worker. */
  acknowledged: Map<string, number>;
}

export function newLedger(): Ledger {
  return { deeds: [], violations: [], acknowledged: new Map() };
}

/** A deed that is about to be asked for. */
export function newDeed(ledger: Ledger, action: string | null, target: string | null): Deed {
  const deed: Deed = { action, target, attempts: [], acknowledged: false };
  ledger.deeds.push(deed);
  return deed;
}

/** Whether it was asked for before its last attempt, and what became of that is not known. */
export function isRepeated({ attempts }: Deed): boolean {
  return attempts.length > 1;
}

/** Whether it was found done when it was asked for again: the answer to an attempt that had done it was lost. */
export function isFoundDone({ acknowledged, attempts }: Deed): boolean {
  const last = attempts.at(-1)?.status ?? 0;
  return acknowledged && last >= 400;
}
