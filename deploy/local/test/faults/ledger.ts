/** One request for a deed. */
export interface Attempt {
  requestId: string;
  /** 0 without a response. */
  status: number;
}

/** An action that must be done once, with all its requests, and whether it was acknowledged. */
export interface Deed {
  /** Its name in the audit; null without a record. */
  action: string | null;
  /** The id of its target; null if unknown or not audited. */
  target: string | null;
  attempts: Attempt[];
  acknowledged: boolean;
}

/** The actions of one organization. */
export interface Ledger {
  deeds: Deed[];
  /** Wrong responses. */
  violations: string[];
  /** The number of acknowledged actions, by worker. */
  acknowledged: Map<string, number>;
}

export function newLedger(): Ledger {
  return { deeds: [], violations: [], acknowledged: new Map() };
}

/** An action before its first request. */
export function newDeed(ledger: Ledger, action: string | null, target: string | null): Deed {
  const deed: Deed = { action, target, attempts: [], acknowledged: false };
  ledger.deeds.push(deed);
  return deed;
}

/** Whether an earlier request has an unknown result. */
export function isRepeated({ attempts }: Deed): boolean {
  return attempts.length > 1;
}

/** Whether a repeated request found it done: the response of an earlier one was lost. */
export function isFoundDone({ acknowledged, attempts }: Deed): boolean {
  const last = attempts.at(-1)?.status ?? 0;
  return acknowledged && last >= 400;
}
