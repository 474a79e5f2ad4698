import type { EventRow } from "../store/stripe-events.ts";

type Named = Pick<EventRow, "id" | "created" | "subscription_id" | "customer_id" | "org_id">;

/**
 * The organization of a subscription: as its newest event with one names it, else as the newest event of its customer does.
 * @param events all that may say so, in any order
 */
export function orgOfSubscription(events: readonly Named[], subscriptionId: string): string | null {
  const own = newestFirst(events.filter((each) => each.subscription_id === subscriptionId));
  const named = own.find(({ org_id }) => org_id !== null)?.org_id;
  return named ?? orgOfCustomer(events, own.find(({ customer_id }) => customer_id !== null)?.customer_id ?? null);
}

/** The organization that the newest event of a customer names. */
export function orgOfCustomer(events: readonly Named[], customerId: string | null): string | null {
  if (customerId === null) return null;
  const own = newestFirst(events.filter((each) => each.customer_id === customerId));
  return own.find(({ org_id }) => org_id !== null)?.org_id ?? null;
}

function newestFirst(events: readonly Named[]): Named[] {
  return events.toSorted((one, other) => other.created - one.created || (other.id < one.id ? -1 : 1));
}
