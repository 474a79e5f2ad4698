import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "./connection.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { signEvent } from "./sign-event.ts";

/** The limit for a plan on its way from a billing event to the SIEM endpoints. */
const planSeconds = 60;

/**
 * An organization that may have SIEM endpoints: with a signing secret it buys the plan, else the
 * installation must give the plan to every organization. Null without the plan.
 */
export async function createSiemOrganization(
  connection: Connection,
  stripeSecret: string | undefined,
): Promise<Organization | null> {
  const organization = await createOrganization(connection, "Cases with a SIEM");
  const mayConfigure = async (): Promise<boolean> => {
    const { status } = await connection.sendPatiently({
      method: "GET",
      path: "/api/org/siem/webhooks",
      headers: { authorization: `Bearer ${await organization.accessToken()}` },
      address: connection.newAddress(),
    });
    return status === 200;
  };
  if (await mayConfigure()) return organization;
  if (stripeSecret === undefined) return null;
  await buyPlan(connection, organization.orgId, stripeSecret);
  const deadline = performance.now() + planSeconds * 1000;
  while (!(await mayConfigure())) {
    if (performance.now() > deadline) return null;
    await sleep(200);
  }
  return organization;
}

async function buyPlan(connection: Connection, orgId: string, secret: string): Promise<void> {
  const id = randomBytes(12).toString("hex");
  const created = Math.floor(Date.now() / 1000);
  const price = { id: "price_case", lookup_key: "enterprise" };
  const subscription = {
    id: `sub_${id}`,
    object: "subscription",
    customer: `cus_${id}`,
    status: "active",
    metadata: { org_id: orgId },
    items: { data: [{ price, current_period_end: created + 30 * 86_400 }] },
  };
  const body = JSON.stringify({
    id: `evt_${id}`,
    object: "event",
    type: "customer.subscription.created",
    created,
    data: { object: subscription },
  });
  const { status, text } = await connection.sendPatiently({
    method: "POST",
    path: "/api/webhooks/stripe",
    headers: {
      "content-type": "application/json",
      "stripe-signature": signEvent(body, secret, { age: 0, key: "own" }),
    },
    body,
    address: connection.newAddress(),
  });
  if (status !== 200) throw new Error(`the event that buys a plan was answered ${status}: ${text}`);
}
