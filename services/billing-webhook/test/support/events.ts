import { createHmac, randomBytes, randomUUID } from "node:crypto";

export const secret = "whsec_the_endpoints_own_secret";
export const subscriptionTypes = ["created", "updated", "deleted"] as const;

/** `Stripe-Signature` as Stripe makes it. */
export function sign(
  body: string | Buffer,
  { key = secret, at = new Date() }: { key?: string; at?: Date } = {},
): string {
  const time = Math.floor(at.getTime() / 1000);
  return `t=${time},v1=${createHmac("sha256", key).update(`${time}.`).update(body).digest("hex")}`;
}

export interface SubscriptionFacts {
  /** Of the event: `created`, `updated` or `deleted`. */
  event?: (typeof subscriptionTypes)[number];
  id?: string;
  /** Unix seconds. */
  created?: number;
  subscription?: string;
  customer?: string | null;
  org?: string | null;
  status?: string;
  /** Lookup keys of the items, or whole prices. */
  prices?: (string | { id: string; lookup_key?: string | null })[];
  /** Whether the API is one from before 2025. */
  old?: boolean;
}

export const newEventId = (): string => `evt_${randomBytes(12).toString("hex")}`;
export const unixNow = (): number => Math.floor(Date.now() / 1000);

/** An event about a subscription, with the fields that Stripe sends. */
export function subscriptionEvent(facts: SubscriptionFacts = {}) {
  const { event = "updated", created = unixNow(), subscription = "sub_1", customer = "cus_1", old = false } = facts;
  const { org = randomUUID(), prices = ["business"], id = newEventId() } = facts;
  const { status = event === "deleted" ? "canceled" : "active" } = facts;
  const end = created + 30 * 86_400;
  return {
    id,
    object: "event",
    api_version: old ? "2023-10-16" : "2025-11-17.clover",
    created,
    type: `customer.subscription.${event}`,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    data: {
      object: {
        id: subscription,
        object: "subscription",
        customer,
        status,
        metadata: org === null ? {} : { org_id: org },
        ...(old ? { current_period_end: end, current_period_start: created } : {}),
        items: {
          object: "list",
          data: prices.map((price, at) => ({
            id: `si_${at}`,
            object: "subscription_item",
            price: typeof price === "string" ? { id: `price_${price}`, object: "price", lookup_key: price } : price,
            quantity: 1,
            ...(old ? {} : { current_period_end: end, current_period_start: created }),
          })),
          has_more: false,
        },
      },
    },
  };
}

export interface InvoiceFacts {
  paid?: boolean;
  id?: string;
  created?: number;
  invoice?: string;
  subscription?: string | null;
  customer?: string | null;
  org?: string | null;
  old?: boolean;
}

/** An event about an invoice, with the fields that Stripe sends. */
export function invoiceEvent(facts: InvoiceFacts = {}) {
  const { paid = true, id = newEventId(), created = unixNow(), invoice = "in_1", customer = "cus_1" } = facts;
  const { subscription = "sub_1", org = null, old = false } = facts;
  const details = { metadata: org === null ? {} : { org_id: org } };
  return {
    id,
    object: "event",
    created,
    type: paid ? "invoice.paid" : "invoice.payment_failed",
    data: {
      object: {
        id: invoice,
        object: "invoice",
        customer,
        ...(old
          ? { subscription, subscription_details: details }
          : { parent: { type: "subscription_details", subscription_details: { ...details, subscription } } }),
      },
    },
  };
}
