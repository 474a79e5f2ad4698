import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

/** A price that `COFFER_STRIPE_PRICES` of the installation must have. */
export const price = "business";

/** Reports a subscription of the organization as Stripe would. Throws Error if it is not accepted. */
export async function pay(url: string, orgId: string, secret: string): Promise<void> {
  const created = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    id: `evt_${randomBytes(12).toString("hex")}`,
    object: "event",
    api_version: "2025-11-17.clover",
    created,
    livemode: false,
    type: "customer.subscription.updated",
    data: {
      object: {
        id: `sub_${orgId.replaceAll("-", "")}`,
        object: "subscription",
        created,
        customer: `cus_${orgId.replaceAll("-", "")}`,
        metadata: { org_id: orgId },
        status: "active",
        items: {
          object: "list",
          data: [{ id: "si_1", current_period_end: created + 86_400, price: { id: "price_1", lookup_key: price } }],
        },
      },
    },
  });
  const signature = createHmac("sha256", secret).update(`${created}.${body}`).digest("hex");
  const response = await fetch(`${url}/api/webhooks/stripe`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "stripe-signature": `t=${created},v1=${signature}` },
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`an event of Stripe was answered ${response.status}`);
}

/**
 * Repeats a request while the response is `plan_required`: a plan reaches the services one after
 * the other.
 */
export async function onceThePlanIsKnown<Answer extends { status: number }>(
  request: () => Promise<Answer>,
): Promise<Answer> {
  const end = performance.now() + 30_000;
  for (;;) {
    const answer = await request();
    if (answer.status !== 403 || performance.now() > end) return answer;
    await pause(50);
  }
}
