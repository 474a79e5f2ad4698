import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import t from "tap";
import { coffer } from "./command.ts";

const secret = "whsec_of_the_local_service";
const org = "01900000-0000-7C59-AA7C-F8D2BBD49000";
interface Received {
  url: string | undefined;
  body: string;
  signature: string;
}
const received: Received[] = [];
let status = 200;
const server = createServer((request, response) => {
  void text(request).then((body) => {
    received.push({ url: request.url, body, signature: String(request.headers["stripe-signature"]) });
    response.writeHead(status).end("{}");
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
t.teardown(() => server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a port, not a pipe
const home = t.testdir({ secret: `${secret}\n` });
const event = "customer.subscription.created";
const send = (
  args: string[],
  env: Record<string, string> = { COFFER_STRIPE_WEBHOOK_SECRETS: `${secret},whsec_next` },
) => coffer(home, ["dev", "stripe-event", ...args], { env: { COFFER_URL: url, ...env } });

await t.test("an event is signed over its bytes, and concerns the organization's subscription", async (t) => {
  const outcome = await send([event, "--org", org, "--price", "enterprise", "--json"]);
  t.match(outcome, { code: 0 });
  const { body = "", signature = "", url: path } = received.at(-1) ?? {};
  t.equal(path, "/api/webhooks/stripe");
  t.strictSame(JSON.parse(outcome.stdout), JSON.parse(body));
  const [, time = "", given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  t.equal(given, createHmac("sha256", secret).update(`${time}.${body}`).digest("hex"));
  t.ok(Math.abs(Number(time) - Date.now() / 1000) < 60);
  t.match(JSON.parse(body), {
    id: /^evt_[a-z0-9]+$/,
    type: event,
    data: {
      object: {
        id: "sub_dev0190000000007c59aa7cf8d2bbd49000",
        status: "active",
        metadata: { org_id: org.toLowerCase() },
        items: { data: [{ price: { lookup_key: "enterprise" } }] },
      },
    },
  });
});

await t.test("each of the five types is sent, with what the options say", async (t) => {
  for (const [type, expected] of [
    ["customer.subscription.updated", { status: "past_due" }],
    ["customer.subscription.deleted", { status: "past_due" }],
    ["invoice.paid", { status: "paid", parent: { subscription_details: { subscription: "sub_7" } } }],
    ["invoice.payment_failed", { status: "open", parent: { subscription_details: { metadata: { org_id: String } } } }],
  ] as const) {
    const options = [
      "--status",
      "past_due",
      "--subscription",
      "sub_7",
      "--event-id",
      "evt_7",
      "--created",
      "1700000000",
    ];
    t.match(await send([type, "--org", org, ...options]), { code: 0, stdout: "" });
    t.match(JSON.parse(received.at(-1)?.body ?? ""), {
      id: "evt_7",
      created: 1_700_000_000,
      type,
      data: { object: expected },
    });
  }
  t.match(await send(["customer.subscription.deleted", "--org", org]), { code: 0 });
  t.match(JSON.parse(received.at(-1)?.body ?? ""), { data: { object: { status: "canceled" } } });
});

await t.test("the secret comes from a file or the environment", async (t) => {
  for (const [args, env] of [
    [["--secret-file", `${home}/secret`], {}],
    [[], { COFFER_STRIPE_WEBHOOK_SECRETS_FILE: `${home}/secret` }],
  ] as const) {
    t.match(await send([event, "--org", org, ...args], env), { code: 0 });
    const { body = "", signature = "" } = received.at(-1) ?? {};
    const [, time = "", given] = /^t=(\d+),v1=(.*)$/.exec(signature) ?? [];
    t.equal(given, createHmac("sha256", secret).update(`${time}.${body}`).digest("hex"));
  }
});

await t.test("nothing is sent to another machine, without a secret, or for a wrong use", async (t) => {
  const before = received.length;
  for (const [args, env, words] of [
    [["payment", "--org", org], undefined, /one of customer\.subscription\.created/],
    [[event], undefined, /--org/],
    [[event, "--org", "Example"], undefined, /id of an organization/],
    [[event, "--org", org, "--created", "now"], undefined, /Unix seconds/],
    [[event, "--org", org], {}, /no signing secret/],
    [[event, "--org", org, "--secret-file", `${home}/none`], {}, /cannot be read/],
    [[event, "--org", org, "--url", "https://coffer.example.com"], undefined, /another machine/],
  ] as const) {
    const outcome = await send([...args], env);
    t.match(outcome, { code: 2, stdout: "", stderr: words });
    t.notMatch(outcome.stderr, /whsec_/);
  }
  t.equal(received.length, before);
});

await t.test("a refusal says what to do", async (t) => {
  for (const [answered, code, words] of [
    [400, 2, /another COFFER_STRIPE_WEBHOOK_SECRETS/],
    [404, 5, /billing is off/],
    [429, 6, /wait a minute/],
    [503, 7, /answered 503/],
    [302, 1, /answered 302/],
  ] as const) {
    status = answered;
    t.match(await send([event, "--org", org]), { code, stderr: words });
  }
  server.closeAllConnections();
  server.close();
  t.match(await send([event, "--org", org]), { code: 7 });
});
