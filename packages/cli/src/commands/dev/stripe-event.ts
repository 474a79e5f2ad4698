import { createHmac, randomBytes } from "node:crypto";
import { ConfigurationError, readEnvironment } from "@coffer/env";
import { CofferError } from "@coffer/sdk";
import type { AddressOptions, Call } from "../../command-row.ts";
import { isLoopback } from "../../doctor/addresses.ts";
import { usage } from "../../failure.ts";
import { readNamedFile } from "../../input/inputs.ts";
import { printJson, printNotice } from "../../output/output.ts";
import { resolveAddress } from "../../service/address.ts";
import { version } from "@coffer/sdk/version";

const types = [
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
  "invoice.paid",
  "invoice.payment_failed",
] as const;
type EventType = (typeof types)[number];

interface EventOptions extends AddressOptions {
  org: string;
  price: string;
  status?: string;
  subscription?: string;
  eventId?: string;
  created?: string;
  secretFile?: string;
  json?: boolean;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const timeoutMilliseconds = 10_000;
const periodSeconds = 30 * 24 * 60 * 60;

/**
 * `coffer dev stripe-event`: makes an event of one organization's subscription, signs it and sends
 * it to a local service.
 */
export async function sendStripeEvent({ args, options, env }: Call<EventOptions>): Promise<void> {
  const type = types.find((each) => each === args[0]);
  if (type === undefined) throw usage(`there is no such event: use one of ${types.join(", ")}`);
  if (!uuid.test(options.org)) throw usage("--org takes the id of an organization: coffer whoami --json shows it");
  const now = Math.floor(Date.now() / 1000);
  const created = Number(options.created ?? now);
  if (!Number.isInteger(created) || created < 0) throw usage("--created takes Unix seconds");
  const { url } = await resolveAddress(options, env);
  if (!isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1")))
    throw usage(`${url} is another machine: this command sends invented events to a local service only`);
  const secret = await readSecret(options, env);
  const event = eventOf(type, created, options);
  const body = JSON.stringify(event);
  const signature = createHmac("sha256", secret).update(`${now}.${body}`).digest("hex");
  const status = await post(`${url}/api/webhooks/stripe`, body, `t=${now},v1=${signature}`);
  if (status !== 200) throw new CofferError(codeOf(status), refusalOf(status));
  printNotice(`${type} ${event.id} was received`);
  if (options.json === true) printJson(event);
}

async function readSecret({ secretFile }: EventOptions, env: NodeJS.ProcessEnv): Promise<string> {
  const [secret] = secretFile === undefined ? secretsIn(env) : (await readNamedFile(secretFile)).trim().split(/\r?\n/);
  if (secret !== undefined && secret !== "") return secret;
  throw usage(
    "there is no signing secret: start the local service with COFFER_STRIPE_WEBHOOK_SECRETS, and set it here too",
  );
}

function secretsIn(env: NodeJS.ProcessEnv): string[] {
  const name = "COFFER_STRIPE_WEBHOOK_SECRETS";
  // Ignores other variables.
  const own = Object.fromEntries([name, `${name}_FILE`].map((each) => [each, env[each]]));
  try {
    return readEnvironment(own, [name])[name];
  } catch (error) {
    if (error instanceof ConfigurationError) throw usage(error.problems.join("; "));
    throw error;
  }
}

/** The status of the answer. Throws CofferError (network). */
async function post(url: string, body: string, signature: string): Promise<number> {
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "stripe-signature": signature,
    "user-agent": `coffer-cli/${version}`,
  };
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  try {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await response.arrayBuffer();
    return response.status;
  } catch (cause) {
    throw new CofferError("network", `${url} does not answer`, { cause });
  }
}

function codeOf(status: number): ConstructorParameters<typeof CofferError>[0] {
  if (status === 400) return "invalid_request";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  return status === 503 ? "unavailable" : "bad_answer";
}

function refusalOf(status: number): string {
  if (status === 400) return "the service refused the signature: it runs with another COFFER_STRIPE_WEBHOOK_SECRETS";
  if (status === 404) return "billing is off there: start the service with COFFER_STRIPE_WEBHOOK_SECRETS";
  if (status === 429)
    return "five events a minute are taken from one address: wait a minute, or raise COFFER_LIMIT_STRICT";
  return `the service answered ${status}`;
}

/** An event in Stripe's form, with one subscription and one customer for each organization. */
function eventOf(type: EventType, created: number, options: EventOptions) {
  const own = options.org.toLowerCase().replaceAll("-", "");
  const { subscription = `sub_dev${own}`, eventId = `evt_dev${randomBytes(12).toString("hex")}` } = options;
  const about = { created, customer: `cus_dev${own}`, subscription, metadata: { org_id: options.org.toLowerCase() } };
  return {
    id: eventId,
    object: "event",
    api_version: "2025-11-17.clover",
    created,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    data: { object: type.startsWith("invoice.") ? invoice(type, about) : subscriptionOf(type, about, options) },
  };
}

interface About {
  created: number;
  customer: string;
  subscription: string;
  metadata: { org_id: string };
}

function subscriptionOf(
  type: EventType,
  { created, customer, subscription, metadata }: About,
  { price, status }: EventOptions,
) {
  return {
    id: subscription,
    object: "subscription",
    cancel_at_period_end: false,
    created,
    currency: "eur",
    customer,
    livemode: false,
    metadata,
    status: status ?? (type === "customer.subscription.deleted" ? "canceled" : "active"),
    items: {
      object: "list",
      data: [
        {
          id: subscription.replace(/^sub_/, "si_"),
          object: "subscription_item",
          current_period_start: created,
          current_period_end: created + periodSeconds,
          price: { id: `price_dev_${price.replace(/[^A-Za-z0-9_-]/g, "_")}`, object: "price", lookup_key: price },
          quantity: 1,
        },
      ],
      has_more: false,
    },
  };
}

function invoice(type: EventType, { created, customer, subscription, metadata }: About) {
  const isPaid = type === "invoice.paid";
  return {
    id: `in_dev${randomBytes(12).toString("hex")}`,
    object: "invoice",
    amount_due: 4900,
    amount_paid: isPaid ? 4900 : 0,
    created,
    currency: "eur",
    customer,
    livemode: false,
    parent: { type: "subscription_details", subscription_details: { metadata, subscription } },
    status: isPaid ? "paid" : "open",
  };
}
