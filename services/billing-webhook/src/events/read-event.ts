import { ServiceError } from "@coffer/errors";
import { uuidText } from "@coffer/http";
import { z } from "zod";

/** The types of events that are used. */
export const eventTypes = [
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
  "invoice.paid",
  "invoice.payment_failed",
] as const;
export type EventType = (typeof eventTypes)[number];

/** A price of one item of a subscription. */
export interface Price {
  id: string;
  lookup_key: string | null;
}

/** The facts of an event, in one form for all versions of Stripe's API. */
export interface StripeEvent {
  id: string;
  type: EventType;
  /** Unix seconds. */
  created: number;
  /** The id of the event's object: `sub_…` or `in_…`. */
  objectId: string;
  subscriptionId: string | null;
  customerId: string | null;
  /** As the subscription's metadata names it. */
  orgId: string | null;
  /** Of a subscription, as Stripe names it. */
  status: string | null;
  /** Of the live items of a subscription. */
  prices: Price[] | null;
  /** ISO 8601. */
  periodEnd: string | null;
}

/** An authentic body that has no effect: of a type that is not used, or of a form that is not known. */
export interface OtherEvent {
  type: EventType | "other";
  problem: "unused_type" | "unknown_form";
}

// The longest moment that ISO 8601 and Postgres have alike: the end of the year 9999.
const unixSeconds = z.int().min(0).max(253_402_300_799);
const stripeId = z.string().regex(/^[A-Za-z0-9_-]{1,255}$/);
/** An id, or the object that has it, as Stripe sends for a field that is expanded. */
const reference = z
  .union([stripeId, z.object({ id: stripeId }).transform(({ id }) => id)])
  .nullish()
  .transform((id) => id ?? null);
/** Another value than an organization's id names none. */
const metadata = z
  .object({ org_id: uuidText.nullish().catch(null) })
  .nullish()
  .catch(null);
const envelope = z.object({ id: stripeId, type: z.enum(eventTypes), created: unixSeconds });
const price = z.object({ id: stripeId, lookup_key: z.string().max(255).nullish() });

const subscription = z.object({
  id: stripeId,
  customer: reference,
  status: z.string().regex(/^[a-z_]{1,64}$/),
  metadata,
  current_period_end: unixSeconds.nullish(),
  items: z
    .object({
      data: z.array(
        z.object({
          // Before prices there were plans, with the same ids.
          price: price.nullish(),
          plan: price.nullish(),
          deleted: z.boolean().nullish(),
          current_period_end: unixSeconds.nullish(),
        }),
      ),
    })
    .nullish(),
});

const details = z.object({ subscription: reference, metadata }).nullish();
const invoice = z.object({
  id: stripeId,
  customer: reference,
  subscription: reference,
  subscription_details: details,
  parent: z.object({ subscription_details: details }).nullish(),
});

/**
 * Reads an authentic body.
 * @throws ServiceError `invalid_request` if it is not JSON
 */
export function readEvent(body: Buffer): StripeEvent | OtherEvent {
  const value = parse(body);
  const { data: type } = z.object({ type: z.enum(eventTypes) }).safeParse(value);
  if (type === undefined) return { type: "other", problem: "unused_type" };
  const about = type.type.startsWith("invoice.") ? invoiceEvent(value) : subscriptionEvent(value);
  return about ?? { type: type.type, problem: "unknown_form" };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // The parser's message quotes the body.
    throw new ServiceError("invalid_request", "the body is not valid JSON");
  }
}

function subscriptionEvent(value: unknown): StripeEvent | null {
  const { data: event } = envelope.extend({ data: z.object({ object: subscription }) }).safeParse(value);
  if (event === undefined) return null;
  const { id, type, created } = event;
  const { id: subscriptionId, customer, status, metadata: named, current_period_end, items } = event.data.object;
  const live = (items?.data ?? []).filter((item) => item.deleted !== true);
  const ends = live.flatMap((item) => item.current_period_end ?? []);
  const end = current_period_end ?? (ends.length === 0 ? null : Math.max(...ends));
  return {
    id,
    type,
    created,
    objectId: subscriptionId,
    subscriptionId,
    customerId: customer,
    orgId: named?.org_id ?? null,
    status,
    prices: live.flatMap((item) => {
      const found = item.price ?? item.plan;
      return found ? [{ id: found.id, lookup_key: found.lookup_key ?? null }] : [];
    }),
    periodEnd: end === null ? null : new Date(end * 1000).toISOString(),
  };
}

function invoiceEvent(value: unknown): StripeEvent | null {
  const { data: event } = envelope.extend({ data: z.object({ object: invoice }) }).safeParse(value);
  if (event === undefined) return null;
  const { id, type, created } = event;
  const { id: objectId, customer, subscription: direct, subscription_details: older, parent } = event.data.object;
  const newer = parent?.subscription_details;
  return {
    id,
    type,
    created,
    objectId,
    subscriptionId: newer?.subscription ?? direct,
    customerId: customer,
    orgId: newer?.metadata?.org_id ?? older?.metadata?.org_id ?? null,
    status: null,
    prices: null,
    periodEnd: null,
  };
}
