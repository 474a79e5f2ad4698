import type { EventRow } from "../store/stripe-events.ts";

type Named = Pick<EventRow, "id" | "created" | "subscription_id" | "customer_id" | "org_id">;

/** Which organization pays by which subscription and customer. */
export interface Belonging {
  /**
   * As the newest event of the subscription with one names it, else as the newest event of its
   * customer does.
   */
  ofSubscription(subscriptionId: string): string | null;
  /** As the newest event of the customer names it. */
  ofCustomer(customerId: string | null): string | null;
}

/** Maps subscriptions and customers to organizations, from events in any order. */
export function belongingOf(events: readonly Named[]): Belonging {
  const orgs = { subscription: new Map<string, string>(), customer: new Map<string, string>() };
  const customers = new Map<string, string>();
  for (const { subscription_id, customer_id, org_id } of events.toSorted(compare)) {
    if (subscription_id !== null && customer_id !== null) customers.set(subscription_id, customer_id);
    if (org_id === null) continue;
    if (subscription_id !== null) orgs.subscription.set(subscription_id, org_id);
    if (customer_id !== null) orgs.customer.set(customer_id, org_id);
  }
  const ofCustomer = (id: string | null): string | null => (id === null ? null : (orgs.customer.get(id) ?? null));
  return {
    ofCustomer,
    ofSubscription: (id) => orgs.subscription.get(id) ?? ofCustomer(customers.get(id) ?? null),
  };
}

/** The newest last. */
function compare(one: Named, other: Named): number {
  return one.created - other.created || (one.id < other.id ? -1 : 1);
}
