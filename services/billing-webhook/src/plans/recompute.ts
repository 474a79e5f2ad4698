import type { PlanName } from "@coffer/contract";
import type { AuditDraft } from "@coffer/events";
import { auditSchemaName, planChanged } from "@coffer/events";
import type { Transaction } from "@coffer/postgres";
import { enqueue, enqueueAudit } from "@coffer/outbox";
import { stripeActor } from "../audit.ts";
import type { Deps } from "../deps.ts";
import { findPlan, insertEndedGrace, replacePlan, touchPlan } from "../store/org-plans.ts";
import type { EventRow } from "../store/stripe-events.ts";
import { listEventsOfOrg } from "../store/stripe-events.ts";
import { belongingOf } from "./belonging.ts";
import { highestPlan } from "./price-table.ts";
import type { SubscriptionEvent, SubscriptionState } from "./subscription-state.ts";
import { graceSeconds, subscriptionState } from "./subscription-state.ts";

/** The dependencies of computing a plan. */
export type PlanDeps = Pick<Deps, "newId" | "now" | "prices">;

/**
 * Computes the plan of an organization from all events and reports it when it is another one, at
 * the commit. Records graces that have ended. The caller holds the lock of billing.
 * @returns the plan before and after
 */
export async function recomputePlan(
  tx: Transaction,
  deps: PlanDeps,
  orgId: string,
): Promise<{ before: PlanName | null; plan: PlanName }> {
  const now = deps.now();
  const seconds = Math.floor(now.getTime() / 1000);
  const states = subscriptionsOf(await listEventsOfOrg(tx, orgId), orgId).map(([id, events]) => ({
    id,
    ...subscriptionState(events, deps.prices, seconds),
  }));
  const plan = highestPlan(states.map((state) => state.plan)) ?? "free";
  const ends = states.flatMap((state) => graceEnd(state) ?? []);
  const next = ends.filter((end) => end > seconds).toSorted((one, other) => one - other)[0];
  const graceEndsAt = next === undefined ? undefined : new Date(next * 1000);
  const computed = { orgId, plan, graceEndsAt, digest: deps.prices.digest };
  const before = await findPlan(tx, orgId);
  if (before === plan) await touchPlan(tx, computed);
  else await enqueue(tx, planChanged, await replacePlan(tx, computed, now), { id: deps.newId() });
  for (const { id, pastDueSince } of states) {
    if (pastDueSince === undefined || seconds < pastDueSince + graceSeconds) continue;
    if (await insertEndedGrace(tx, { subscriptionId: id, pastDueSince }))
      await enqueueAudit(tx, graceEnded(deps, { orgId, subscriptionId: id, plan }));
  }
  return { before, plan };
}

function graceEnd({ pastDueSince }: SubscriptionState): number | undefined {
  return pastDueSince === undefined ? undefined : pastDueSince + graceSeconds;
}

/** The subscriptions that belong to the organization, with their events. */
function subscriptionsOf(events: readonly EventRow[], orgId: string): [string, SubscriptionEvent[]][] {
  const bySubscription = Map.groupBy(events.flatMap(subscriptionEventOf), ({ subscriptionId }) => subscriptionId);
  const { ofSubscription } = belongingOf(events);
  return [...bySubscription].filter(([id]) => ofSubscription(id) === orgId);
}

/** The event as one about a subscription; none when it is about an invoice. */
export function subscriptionEventOf(row: EventRow): (SubscriptionEvent & { subscriptionId: string })[] {
  const { id, type, created, subscription_id: subscriptionId, status, prices } = row;
  if (subscriptionId === null || status === null) return [];
  return [{ id, type, created, subscriptionId, status, prices: prices ?? [] }];
}

/** No request caused it: the clock did. */
function graceEnded(
  { newId, now }: PlanDeps,
  { orgId, subscriptionId, plan }: { orgId: string; subscriptionId: string; plan: PlanName },
): AuditDraft {
  return {
    schema: auditSchemaName,
    id: newId(),
    time: `${now().toISOString().slice(0, -1)}000Z`,
    org_id: orgId,
    outcome: "success",
    reason: "grace_ended",
    action: "billing.subscription.updated",
    actor: stripeActor,
    target: { type: "subscription", id: subscriptionId },
    source: { ip: null, user_agent: null },
    request: { id: newId(), method: null, route: null, status: null },
    changes: { status: "past_due", plan },
  };
}
