import type { AuditAction } from "@coffer/contract";
import { type AuditEntry, auditOf, type RequestContext } from "@coffer/http";
import type { Transaction } from "@coffer/postgres";
import { enqueueAudit } from "@coffer/outbox";
import { stripeActor } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { belongingOf } from "../plans/belonging.ts";
import { recomputePlan, subscriptionEventOf } from "../plans/recompute.ts";
import { countsPrices, isSuperseded } from "../plans/subscription-state.ts";
import type { EventRow } from "../store/stripe-events.ts";
import { insertEvent, listRelatedEvents, lockBilling } from "../store/stripe-events.ts";
import type { EventType, StripeEvent } from "./read-event.ts";

/**
 * An audit record names at most this many prices: an event of 1 MB can have thousands, more than a
 * record may hold.
 */
const mostNamedPrices = 20;

/** The result of an event. */
export type EventOutcome = "applied" | "superseded" | "unknown_price" | "duplicate" | "unknown_org";

const actions: Readonly<Record<EventType, AuditAction>> = {
  "customer.subscription.created": "billing.subscription.created",
  "customer.subscription.updated": "billing.subscription.updated",
  "customer.subscription.deleted": "billing.subscription.cancelled",
  "invoice.paid": "billing.invoice.paid",
  "invoice.payment_failed": "billing.invoice.failed",
};

/**
 * Stores an event once, computes the plans of all organizations that it may concern, and leaves its
 * audit record: in one transaction. An event that is stored already changes nothing.
 */
export function keepEvent(
  deps: Pick<Deps, "database" | "newId" | "now" | "prices">,
  event: StripeEvent,
  request: RequestContext,
): Promise<EventOutcome> {
  return deps.database.transaction(async (tx) => {
    await lockBilling(tx);
    if (!(await insertEvent(tx, event, deps.now()))) return "duplicate";
    const related = await listRelatedEvents(tx, event);
    const orgIds = new Set(related.flatMap(({ org_id }) => org_id ?? []));
    const own = event.orgId ?? orgOf(related, event);
    let changes: Record<string, string> = {};
    for (const orgId of [...orgIds].sort()) {
      const { before, plan } = await recomputePlan(tx, deps, orgId);
      if (orgId === own) changes = { plan, ...(before === null || before === plan ? {} : { previous_plan: before }) };
    }
    if (own === null) return "unknown_org";
    return record(tx, deps, request, { event, orgId: own, related, changes });
  });
}

function orgOf(related: readonly EventRow[], { subscriptionId, customerId }: StripeEvent): string | null {
  const { ofSubscription, ofCustomer } = belongingOf(related);
  return (subscriptionId === null ? null : ofSubscription(subscriptionId)) ?? ofCustomer(customerId);
}

interface Recorded {
  event: StripeEvent;
  orgId: string;
  related: readonly EventRow[];
  changes: Record<string, string>;
}

async function record(
  tx: Transaction,
  deps: Pick<Deps, "newId" | "prices">,
  request: RequestContext,
  { event, orgId, related, changes }: Recorded,
): Promise<EventOutcome> {
  const { id, type, objectId, subscriptionId, status, periodEnd } = event;
  const unknown = unknownPrices(deps, event);
  const verdict: { outcome: EventOutcome } & Pick<AuditEntry, "reason"> = isLate(event, related)
    ? { outcome: "superseded", reason: "superseded" }
    : unknown.length > 0
      ? { outcome: "unknown_price", reason: "unknown_price" }
      : { outcome: "applied" };
  const { outcome, ...reason } = verdict;
  const isInvoice = status === null;
  const parent = isInvoice && subscriptionId !== null ? { parent_id: subscriptionId } : {};
  await enqueueAudit(
    tx,
    auditOf(deps, request, {
      org_id: orgId,
      action: actions[type],
      actor: stripeActor,
      target: { type: isInvoice ? "invoice" : "subscription", id: objectId, ...parent },
      outcome: outcome === "unknown_price" ? "failure" : "success",
      ...reason,
      status: 200,
      changes: {
        stripe_event: id,
        ...(status === null ? {} : { status }),
        ...(periodEnd === null ? {} : { period_end: periodEnd }),
        ...changes,
        ...(outcome === "unknown_price" ? { unknown_prices: unknown.slice(0, mostNamedPrices) } : {}),
      },
    }),
  );
  return outcome;
}

/** Whether the state of the subscription comes from another event. */
function isLate({ id }: StripeEvent, related: readonly EventRow[]): boolean {
  const events = related.flatMap(subscriptionEventOf);
  const own = events.find((each) => each.id === id);
  if (own === undefined) return false;
  return isSuperseded(
    own,
    events.filter(({ subscriptionId }) => subscriptionId === own.subscriptionId),
  );
}

/** Prices of a subscription that would count, and give no plan. */
function unknownPrices({ prices }: Pick<Deps, "prices">, event: StripeEvent): string[] {
  if (event.status === null || event.prices === null || !countsPrices(event.status)) return [];
  if (event.type === "customer.subscription.deleted") return [];
  return event.prices.filter((price) => prices.planOf(price) === undefined).map(({ id }) => id);
}
