import { fileURLToPath } from "node:url";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../../../deploy/local/test/npm-start.ts";
import { connect } from "../src/connection.ts";
import { chooseCases, readCases } from "../src/read-cases.ts";
import { startReceiver } from "../src/receiver.ts";
import { type Result, runCases } from "../src/run-cases.ts";

const direct = "limits/forged-address-does-not-help";
const directory = fileURLToPath(new URL("../../../../docs/spec/cases/", import.meta.url));

/** On a loaded machine a store may take longer than a service waits: allows few repetitions. */
const mostPutOff = 10;

// Concurrently: most of the time they wait for windows to pass.
t.jobs = 2;
const atOnce = { buffered: true };

// Separate processes pass them as the chart's pods do: deploy/chart/test/render-run.test.ts.
void t.test("a fresh installation in one process passes every case", atOnce, async (t) => {
  const stripeSecret = "whsec_of_the_installation_under_test";
  const env = {
    COFFER_TRUSTED_PROXY_CIDRS: "127.0.0.0/8",
    COFFER_STRIPE_WEBHOOK_SECRETS: `whsec_another_one,${stripeSecret}`,
    COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8",
  };
  const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
  const receiver = await startReceiver("http://127.0.0.1:0");
  t.teardown(() => receiver.close());
  const { shop, cases } = await readCases(directory);
  const results: Result[] = [];
  let putOff = 0;
  const onWait = (_seconds: number, status: number): void => void (putOff += status === 503 ? 1 : 0);
  const connection = connect({ url, forwarded: true, onWait });
  const onResult = (result: Result): void => void results.push(result);
  await runCases({ connection, audience: url, stripeSecret, receiver, shop, cases, onResult });
  t.ok(putOff <= mostPutOff, `${putOff} requests were answered 503`);
  t.equal(results.length, cases.length);
  for (const { name, outcome, reason } of results) t.not(outcome, "failed", `${name} ${reason ?? ""}`);
  const skipped = results.filter(({ outcome }) => outcome === "skipped").map(({ name }) => name);
  t.same(skipped, [direct]);
});

void t.test("without a trusted proxy a forwarded address is ignored", atOnce, async (t) => {
  const { url } = await npmStart(t, { directory: testDirectory(t), env: { COFFER_PROCESSES: "separate" } }).ready;
  const { shop, cases } = await readCases(directory);
  const results: Result[] = [];
  await runCases({
    connection: connect({ url, forwarded: false }),
    audience: url,
    shop,
    cases: chooseCases(cases, [direct]),
    onResult: (result) => results.push(result),
  });
  t.match(results, [{ name: direct, outcome: "passed" }]);
});
