import { ServiceError } from "@coffer/errors";
import type { Call } from "@coffer/http";
import type { Deps } from "../deps.ts";
import type { Stripe } from "./caller.ts";
import { keepEvent } from "./keep.ts";
import { readEvent } from "./read-event.ts";
import { signatureProblem } from "./verify-signature.ts";

/** POST /api/webhooks/stripe */
export async function receiveEvent(
  deps: Deps,
  { body, headers, request }: Call<Stripe, unknown, Buffer>,
): Promise<{ received: true }> {
  const { config, eventCount, telemetry, now } = deps;
  const problem = signatureProblem(body, headers["stripe-signature"], {
    secrets: config.COFFER_STRIPE_WEBHOOK_SECRETS,
    now: now(),
  });
  if (problem !== null) {
    eventCount.inc({ type: "unknown", outcome: "bad_signature" });
    telemetry.log.warn({ problem, ip: request.ip, request_id: request.id }, "a billing event has no valid signature");
    throw new ServiceError(
      "invalid_request",
      "Stripe-Signature is missing, is older than 300 s or does not fit the body",
    );
  }
  const event = readEvent(body);
  if ("problem" in event) {
    const { type, problem: reason } = event;
    eventCount.inc({ type, outcome: "ignored" });
    if (reason === "unknown_form") telemetry.log.warn({ type, reason }, "a billing event has an unknown form");
    return { received: true };
  }
  const outcome = await keepEvent(deps, event, request);
  eventCount.inc({ type: event.type, outcome });
  if (outcome === "unknown_org") {
    const { id, type, subscriptionId, customerId } = event;
    const facts = { event_id: id, type, subscription_id: subscriptionId, customer_id: customerId };
    telemetry.log.warn(facts, "a billing event belongs to no known organization: see metadata.org_id");
  }
  return { received: true };
}
