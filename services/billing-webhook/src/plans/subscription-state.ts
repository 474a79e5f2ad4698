import type { PlanName } from "@coffer/contract";
import type { EventType, Price } from "../events/read-event.ts";
import type { PriceTable } from "./price-table.ts";
import { highestPlan } from "./price-table.ts";

/** How long a subscription whose payment failed keeps its plan. */
export const graceSeconds = 14 * 24 * 60 * 60;

/** An event about a subscription, as far as its state depends on it. */
export interface SubscriptionEvent {
  id: string;
  type: EventType;
  /** Unix seconds. */
  created: number;
  status: string;
  prices: readonly Price[];
}

/** The state of a subscription, and the plan of its organization. */
export interface SubscriptionState {
  /** Undefined when no event says. */
  status: string | undefined;
  /** `free` when it gives nothing. */
  plan: PlanName;
  /** While the plan depends on the clock. Unix seconds. */
  pastDueSince: number | undefined;
}

/** Statuses that give the plan. They also end a grace. */
const paid: ReadonlySet<string> = new Set(["active", "trialing"]);
/** Statuses that give nothing. */
const unpaid: ReadonlySet<string> = new Set(["canceled", "unpaid", "paused", "incomplete_expired"]);
const deletion: EventType = "customer.subscription.deleted";
const ranks: Readonly<Partial<Record<EventType, number>>> = {
  "customer.subscription.created": 0,
  "customer.subscription.updated": 1,
  [deletion]: 2,
};

/**
 * Orders events about one subscription, the newest last: by time, then deleted over updated over
 * created, then by id.
 */
export function compareEvents(one: SubscriptionEvent, other: SubscriptionEvent): number {
  const byRank = (ranks[one.type] ?? 0) - (ranks[other.type] ?? 0);
  return one.created - other.created || byRank || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/**
 * Whether an event is not the one that decides the state: a newer one is there, or the deletion,
 * which is final.
 */
export function isSuperseded(event: SubscriptionEvent, all: readonly SubscriptionEvent[]): boolean {
  const rank = (each: SubscriptionEvent): number => Number(each.type === deletion);
  return all.some((each) => (rank(each) - rank(event) || compareEvents(each, event)) > 0);
}

/**
 * The state of a subscription from all its events, in any order. An unknown status, and
 * `incomplete`, change nothing.
 * @param seconds the present time in Unix seconds
 */
export function subscriptionState(
  events: readonly SubscriptionEvent[],
  prices: PriceTable,
  seconds: number,
): SubscriptionState {
  const counting = events.filter(({ type, status }) => type === deletion || isKnown(status)).toSorted(compareEvents);
  const last = counting.at(-1);
  const isDeleted = counting.some(({ type }) => type === deletion);
  const status = isDeleted ? "canceled" : last?.status;
  const since = status === "past_due" ? pastDueSince(counting) : undefined;
  const isLive = status !== undefined && (paid.has(status) || (since !== undefined && seconds < since + graceSeconds));
  return { status, plan: (isLive ? planOf(counting, prices) : undefined) ?? "free", pastDueSince: since };
}

/** Whether the status of a subscription lets its prices count, now or until its grace ends. */
export function countsPrices(status: string): boolean {
  return paid.has(status) || status === "past_due";
}

function isKnown(status: string): boolean {
  return countsPrices(status) || unpaid.has(status);
}

/** When the first payment failed of those after which none succeeded. */
function pastDueSince(ordered: readonly SubscriptionEvent[]): number | undefined {
  let since: number | undefined;
  for (const { status, created } of ordered) {
    if (paid.has(status)) since = undefined;
    else if (status === "past_due") since ??= created;
  }
  return since;
}

/** The plan of the newest event with a known price: other prices do not change the plan. */
function planOf(ordered: readonly SubscriptionEvent[], table: PriceTable): PlanName | undefined {
  for (const { prices } of ordered.toReversed()) {
    const plan = highestPlan(prices.flatMap((price) => table.planOf(price) ?? []));
    if (plan !== undefined) return plan;
  }
  return undefined;
}
