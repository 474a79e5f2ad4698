/** When to look for vaults that the person has accepted on another device. */
export interface AcceptancePlan {
  /** The ids of the vaults that are not accepted yet. */
  offers: string;
  /** Ticks between the last request and the next. */
  pace: number;
  /** Ticks until the next request. */
  left: number;
  /** Whether a request is due now. */
  due: boolean;
}

export const noOffers: AcceptancePlan = { offers: "", pace: 0, left: 0, due: false };

const longestPace = 180;

/**
 * The plan at the next tick. Each request is a record of the organization's audit, and an offer may
 * stay open for weeks: the pause doubles with each request for the same offers.
 */
export function planAcceptance(before: AcceptancePlan, ids: readonly string[]): AcceptancePlan {
  const offers = ids.toSorted().join();
  if (offers === "") return noOffers;
  if (offers !== before.offers) return { offers, pace: 1, left: 1, due: true };
  if (before.left > 1) return { ...before, left: before.left - 1, due: false };
  const pace = Math.min(before.pace * 2, longestPace);
  return { offers, pace, left: pace, due: true };
}
