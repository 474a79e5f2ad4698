import type { Queryable, Transaction } from "@coffer/postgres";
import { sql } from "@coffer/postgres";
import { z } from "zod";
import type { StripeEvent } from "../events/read-event.ts";
import { eventTypes } from "../events/read-event.ts";

const eventRow = z.object({
  id: z.string(),
  type: z.enum(eventTypes),
  created: z.number(),
  subscription_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  org_id: z.string().nullable(),
  status: z.string().nullable(),
  prices: z.array(z.object({ id: z.string(), lookup_key: z.string().nullable() })).nullable(),
});
/** The stored facts of an event. */
export type EventRow = z.infer<typeof eventRow>;

/**
 * Locks out every other transaction that computes plans, until this one ends. Events are few, and
 * each is computed from all others of its organization.
 */
export async function lockBilling(tx: Transaction): Promise<void> {
  await tx.one(sql.type(z.object({ locked: z.string() }))`
    SELECT pg_advisory_xact_lock(hashtextextended('coffer billing-webhook', 0))::text AS locked
  `);
}

/** Stores the facts of an event. Returns false when the id is stored already. */
export async function insertEvent(tx: Transaction, event: StripeEvent, now: Date): Promise<boolean> {
  const { id, type, created, subscriptionId, customerId, orgId, status, prices, periodEnd } = event;
  const inserted = await tx.maybeOne(sql.type(z.object({ id: z.string() }))`
    INSERT INTO stripe_events
      (id, type, created, subscription_id, customer_id, org_id, status, prices, period_end, received_at)
    VALUES (
      ${id}, ${type}, ${created}, ${subscriptionId}, ${customerId}, ${orgId}, ${status},
      ${prices === null ? null : JSON.stringify(prices)}::json, ${periodEnd}::timestamptz, ${now.toISOString()}
    )
    ON CONFLICT (id) DO NOTHING
    RETURNING id
  `);
  return inserted !== null;
}

const columns = sql.fragment`e.id, e.type, e.created, e.subscription_id, e.customer_id, e.org_id, e.status, e.prices`;

/** Every event about this subscription, its customers or this customer. */
export function listRelatedEvents(
  db: Queryable,
  { subscriptionId, customerId }: Pick<StripeEvent, "subscriptionId" | "customerId">,
): Promise<readonly EventRow[]> {
  // Parts of a union, each of which finds its rows in an index; with OR the whole table would be read.
  return db.any(sql.type(eventRow)`
    WITH customers AS (
      SELECT ${customerId}::text AS customer_id
      UNION SELECT customer_id FROM stripe_events WHERE subscription_id = ${subscriptionId}
    ), ids AS (
      SELECT id FROM stripe_events WHERE subscription_id = ${subscriptionId}
      UNION SELECT id FROM stripe_events JOIN customers USING (customer_id)
    )
    SELECT ${columns} FROM stripe_events e JOIN ids USING (id)
  `);
}

/**
 * Every event about a subscription or customer that an event of this organization names, and about
 * the customers of these subscriptions. These are more than the organization's own events: they
 * show which subscriptions belong to it.
 */
export function listEventsOfOrg(db: Queryable, orgId: string): Promise<readonly EventRow[]> {
  return db.any(sql.type(eventRow)`
    WITH named AS (
      SELECT subscription_id, customer_id FROM stripe_events WHERE org_id = ${orgId}
    ), subscriptions AS (
      SELECT subscription_id FROM named
      UNION SELECT e.subscription_id FROM stripe_events e JOIN (SELECT DISTINCT customer_id FROM named) n USING (customer_id)
    ), customers AS (
      SELECT customer_id FROM named
      UNION SELECT e.customer_id FROM stripe_events e JOIN subscriptions USING (subscription_id)
    ), ids AS (
      SELECT e.id FROM stripe_events e JOIN subscriptions USING (subscription_id)
      UNION SELECT e.id FROM stripe_events e JOIN customers USING (customer_id)
    )
    SELECT ${columns} FROM stripe_events e JOIN ids USING (id)
  `);
}
