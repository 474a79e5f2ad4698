import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { testNats, testPostgres, testRedis, until } from "@coffer/testkit";
import t from "tap";
import { migrateService } from "../src/migrate.ts";
import { post } from "./support/billing.ts";
import { secret, sign, subscriptionEvent } from "./support/events.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

function start(env: NodeJS.ProcessEnv) {
  const child = fork(main, { env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  t.teardown(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text };
}

const [postgres, nats, redis] = await Promise.all([testPostgres(t), testNats(t), testRedis(t)]);
const directory = t.testdir({ secrets: `${secret}\n`, prices: '{"gold": "business"}' });
const env = {
  COFFER_PORT: "0",
  COFFER_MANAGEMENT_PORT: "0",
  COFFER_BASE_URL: "https://coffer.test",
  COFFER_POSTGRES_URL: postgres.url,
  COFFER_NATS_URL: nats.url,
  COFFER_NATS_CREDENTIALS: JSON.stringify({ "billing-webhook": nats.credentials["billing-webhook"] }),
  COFFER_REDIS_URL: redis.urls["billing-webhook"],
  COFFER_DRAIN_SECONDS: "1",
};

await t.test("billing that is on without a secret, or with prices that are none, does not start", async (t) => {
  for (const [given, words] of [
    [{ COFFER_BILLING: "stripe" }, "COFFER_STRIPE_WEBHOOK_SECRETS must be given"],
    [
      { COFFER_STRIPE_WEBHOOK_SECRETS: secret, COFFER_STRIPE_PRICES: '{"p": "gold"}' },
      "COFFER_STRIPE_PRICES must give",
    ],
    [{ COFFER_STRIPE_PRICES: '{"p": "team"}' }, "COFFER_STRIPE_WEBHOOK_SECRETS must be given"],
  ] as const) {
    const { child, output } = start({ ...env, ...given });
    t.equal(((await once(child, "exit")) as [number | null])[0], 1);
    t.match(output(), words);
    t.notMatch(output(), secret);
  }
});

await t.test("a process reads secrets and prices from files, takes events, and ends with 0 when asked", async (t) => {
  await migrateService({ url: postgres.url });
  const { child, output } = start({
    ...env,
    COFFER_STRIPE_WEBHOOK_SECRETS_FILE: `${directory}/secrets`,
    COFFER_STRIPE_PRICES_FILE: `${directory}/prices`,
  });
  const [ready] = (await once(child, "message")) as [{ type: string; url: string; management_url: string }];
  t.equal(ready.type, "ready");
  await until(
    "it is ready",
    async () =>
      fetch(`${ready.management_url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60,
  );
  const body = JSON.stringify(subscriptionEvent({ prices: ["gold"] }));
  t.match(await post(ready.url, body, { "stripe-signature": sign(body) }), { status: 200, body: { received: true } });
  // On a busy machine the connection of the last request may have been closed just now: then a new
  // one is made.
  const metrics = await until("the metrics", () =>
    fetch(`${ready.management_url}/metrics`).then(
      (answer) => answer.text(),
      () => null,
    ),
  );
  t.match(metrics, /coffer_billing_events_total\{.*outcome="applied".*\} 1/);
  child.kill("SIGTERM");
  t.same(await once(child, "exit"), [0, null], output());
});
