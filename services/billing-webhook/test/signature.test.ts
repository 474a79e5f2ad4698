import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { until } from "@coffer/testkit";
import t from "tap";
import { post, startBilling } from "./support/billing.ts";
import { newEventId, secret, sign, subscriptionEvent } from "./support/events.ts";

const next = "whsec_the_next_secret";
const billing = await startBilling(t, { COFFER_STRIPE_WEBHOOK_SECRETS: `${secret}, ${next}` });
const { url, clock, consumers, lines } = billing;

/** Asserts that nothing of an event has an effect. */
const refused = { status: 400, body: { error: "invalid_request" } };
const seconds = (count: number): Date => new Date(clock.now().getTime() + count * 1000);
/** Each is of another subscription: none supersedes another. */
const newBody = (): string =>
  JSON.stringify(subscriptionEvent({ subscription: `sub_${randomUUID()}`, customer: `cus_${randomUUID()}` }));
const outcomes = async (): Promise<string> =>
  (await billing.metrics())
    .split("\n")
    .filter((line) => line.startsWith("coffer_billing_events_total{"))
    .join("\n");

await t.test("what alerts look for is counted from 0", async (t) => {
  t.match(await outcomes(), /type="unknown",outcome="bad_signature"} 0/);
  t.match(await outcomes(), /type="customer.subscription.updated",outcome="unknown_price"} 0/);
});

await t.test("each of the secrets signs, and Stripe may sign with two at once", async (t) => {
  for (const key of [secret, next]) {
    const body = newBody();
    t.match(await post(url, body, { "stripe-signature": sign(body, { key }) }), {
      status: 200,
      body: { received: true },
    });
  }
  const body = newBody();
  const [time = "", signature = ""] = sign(body, { key: next }).split(",");
  const both = `${time},v1=${"0".repeat(64)},${signature},v0=${"1".repeat(64)}`;
  t.match(await post(url, body, { "stripe-signature": both }), { status: 200 });
  t.match(await outcomes(), /type="customer.subscription.updated",outcome="applied"} 3/);
});

await t.test("a missing, malformed or foreign signature is 400, and the body has no effect", async (t) => {
  const before = await until("the events of the test before are recorded", () =>
    consumers.records.length >= 3 ? consumers.records.length : null,
  );
  const body = newBody();
  const [time = "", signature = ""] = sign(body).split(",");
  t.match(await post(url, body), refused, "missing");
  for (const header of [
    "",
    " ",
    "v1",
    "t,v1",
    "t=,v1=",
    signature,
    time,
    `${time},${signature.replace("v1", "v0")}`,
    `${time},${signature.slice(0, -1)}`,
    `${time},${signature}0`,
    `${time},${signature.toUpperCase()}`,
    `t=x,${signature}`,
    sign(body, { key: "whsec_another" }),
    sign(body, { key: "" }),
    sign(`${body} `),
    sign(Buffer.alloc(0)),
    "x".repeat(4000),
  ])
    t.match(await post(url, body, { "stripe-signature": header }), refused, header.slice(0, 90));
  t.equal(consumers.records.length, before);
  t.match(await outcomes(), /type="unknown",outcome="bad_signature"} 18/);
});

await t.test("a signature counts for 300 s", async (t) => {
  clock.stop();
  for (const [age, expected] of [
    [300, { status: 200 }],
    [301, refused],
    [86_400, refused],
  ] as const) {
    const body = newBody();
    t.match(await post(url, body, { "stripe-signature": sign(body, { at: seconds(-age) }) }), expected, `${age} s`);
  }
  t.match(lines.join(""), /"problem":"too_old"/, "the log says that a clock may be wrong");
});

await t.test("a body that is altered by one byte is not the one that was signed", async (t) => {
  const id = newEventId();
  const body = Buffer.from(
    JSON.stringify(subscriptionEvent({ id, prices: [{ id: "price_x", lookup_key: "gr\ufffdn" }] })),
  );
  const header = { "stripe-signature": sign(body, { at: clock.now() }) };
  for (const at of [0, 1, body.length >> 1, body.length - 2, body.length - 1]) {
    const altered = new Uint8Array(body);
    altered[at] = (altered[at] ?? 0) ^ 1;
    t.match(await post(url, altered, header), refused, `byte ${at}`);
  }
  const refusedSignatures = async (): Promise<number> =>
    Number(/outcome="bad_signature"} (\d+)/.exec(await outcomes())?.[1]);
  const before = await refusedSignatures();
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...body]);
  t.match(await post(url, marked, header), refused, "a byte order mark before it");
  t.equal(await refusedSignatures(), before + 1, "for its signature, not for its JSON");
  const replacement = body.indexOf(Buffer.from("\ufffd"));
  const broken = new Uint8Array([...body.subarray(0, replacement), 0xff, ...body.subarray(replacement + 3)]);
  t.match(await post(url, broken, header), refused, "bytes that decode to the same text");
  t.match(await post(url, new Uint8Array([...body, 0x20]), header), refused, "a blank behind it");
  t.notOk(consumers.records.some(({ changes }) => changes?.["stripe_event"] === id));
  t.match(await post(url, new Uint8Array(body), header), { status: 200 }, "the same bytes");
});

await t.test("an authentic body that is not JSON is 400", async (t) => {
  for (const body of ["", "{", "not json", "\u0000", '{"id":'])
    t.match(
      await post(url, body, { "stripe-signature": sign(body, { at: clock.now() }) }),
      refused,
      JSON.stringify(body),
    );
});

await t.test(
  "a body has at most 1 MiB, which is checked before its signature; a content coding is refused",
  async (t) => {
    const filled = (bytes: number): string => {
      const text = newBody();
      return text.slice(0, -1) + " ".repeat(bytes - text.length) + "}";
    };
    const [most, more] = [filled(1024 * 1024), filled(1024 * 1024 + 1)];
    t.match(await post(url, most, { "stripe-signature": sign(most, { at: clock.now() }) }), { status: 200 });
    t.match(await post(url, more, { "stripe-signature": sign(more, { at: clock.now() }) }), {
      status: 413,
      body: { error: "payload_too_large" },
    });
    const zipped = new Uint8Array(gzipSync(Buffer.alloc(32 * 1024 * 20, "[")));
    for (const coding of ["gzip", "x-gzip", "br", "deflate"]) {
      const headers = {
        "content-encoding": coding,
        "stripe-signature": sign(Buffer.from(zipped), { at: clock.now() }),
      };
      t.match(await post(url, zipped, headers), refused, coding);
    }
    const plain = newBody();
    const identity = { "content-encoding": "identity", "stripe-signature": sign(plain, { at: clock.now() }) };
    t.match(await post(url, plain, identity), { status: 200 });
  },
);

await t.test("any content type will do: the signature is over bytes", async (t) => {
  const body = newBody();
  const headers = { "content-type": "text/plain", "stripe-signature": sign(body, { at: clock.now() }) };
  t.match(await post(url, body, headers), { status: 200 });
});

await t.test("the strict bucket goes before everything else", async (t) => {
  const { url: limited } = await billing.replica({
    COFFER_LIMIT_STRICT: "5",
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8",
  });
  const from = { "x-forwarded-for": "203.0.113.9" };
  for (let count = 0; count < 5; count++) {
    const answer = await post(limited, "{}", from);
    t.equal(answer.status, 400);
    t.match(answer.headers.get("ratelimit-policy"), /^"strict";q=5;w=60$/);
  }
  const body = newBody();
  const signed = { "stripe-signature": sign(body, { at: clock.now() }) };
  t.match(await post(limited, body, { ...from, ...signed }), { status: 429, body: { error: "rate_limited" } });
  t.match(await post(limited, body, { "x-forwarded-for": "203.0.113.10", ...signed }), { status: 200 });
});

await t.test("while billing is off there is nothing here", async (t) => {
  const off = await billing.replica({ COFFER_BILLING: "off" });
  const body = newBody();
  const headers = { "stripe-signature": sign(body, { at: clock.now() }) };
  t.match(await post(off.url, body, headers), { status: 404, body: { error: "not_found" } });
  t.match(await post(off.url, "{}"), { status: 404 });
});

await t.test("no secret, signature or body reaches the log", (t) => {
  const logged = lines.join("");
  t.ok(logged.length > 1000, "there is a log");
  t.notMatch(logged, /whsec_|v1=|[0-9a-f]{64}|price_/);
  t.end();
});
