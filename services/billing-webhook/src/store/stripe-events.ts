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
 * Locks out every other transaction that computes plans, until this one ends. Events are few, and each is computed from all
 * others of its organization.
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

/** Every organization that an event about this subscription or this customer names. */
export async function listNamedOrgs(
  db: Queryable,
  { subscriptionId, customerId }: Pick<StripeEvent, "subscriptionId" | "customerId">,
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(z.object({ org_id: z.string() }))`
    SELECT DISTINCT org_id FROM stripe_events
    WHERE org_id IS NOT NULL AND (
      subscription_id = ${subscriptionId} OR customer_id = ${customerId}
      OR customer_id IN (SELECT customer_id FROM stripe_events WHERE subscription_id = ${subscriptionId})
    )
    ORDER BY org_id
  `);
}

const columns = sql.fragment`id, type, created, subscription_id, customer_id, org_id, status, prices`;

/** Every event that says to which organization this subscription belongs. */
export function listEventsOfSubscription(
  db: Queryable,
  { subscriptionId, customerId }: Pick<StripeEvent, "subscriptionId" | "customerId">,
): Promise<readonly EventRow[]> {
  return db.any(sql.type(eventRow)`
    SELECT ${columns} FROM stripe_events
    WHERE subscription_id = ${subscriptionId} OR customer_id = ${customerId}
      OR customer_id IN (SELECT customer_id FROM stripe_events WHERE subscription_id = ${subscriptionId})
  `);
}

/**
 * Every event about a subscription or customer that an event of this organization names, and about the customers of these
 * subscriptions. More than those of the organization: they say which of the subscriptions are its own.
 */
export function listEventsOfOrg(db: Queryable, orgId: string): Promise<readonly EventRow[]> {
  return db.any(sql.type(eventRow)`
    WITH customers AS (
      SELECT customer_id FROM stripe_events WHERE org_id = ${orgId} AND customer_id IS NOT NULL
    ), subscriptions AS (
      SELECT subscription_id FROM stripe_events
      WHERE subscription_id IS NOT NULL
        AND (org_id = ${orgId} OR customer_id IN (SELECT customer_id FROM customers))
    )
    SELECT ${columns} FROM stripe_events
    WHERE subscription_id IN (SELECT subscription_id FROM subscriptions)
      OR customer_id IN (SELECT customer_id FROM customers)
      OR customer_id IN (
        SELECT customer_id FROM stripe_events WHERE subscription_id IN (SELECT subscription_id FROM subscriptions)
      )
  `);
}
