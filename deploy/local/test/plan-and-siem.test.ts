import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import type { Receiver } from "../../../services/siem-forwarder/test/delivery/receivers/receiver.ts";
import {
  azure,
  datadogKey,
  elasticKey,
  hecToken,
  startAzure,
  startDatadog,
  startElastic,
  startHec,
} from "../../../services/siem-forwarder/test/delivery/receivers/vendors.ts";
import { newMachine, newPerson } from "./cli/cli-person.ts";
import { npmStart } from "./npm-start.ts";

// A plan is bought, ends and is bought again, and the four SIEM endpoints follow it. All by the command.

const patientSeconds = 120;
const signingSecret = `whsec_${randomBytes(24).toString("hex")}`;
const { url } = await npmStart(t, {
  directory: testDirectory(t),
  env: {
    COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8",
    // The second one is that of an endpoint of Stripe that is being replaced.
    COFFER_STRIPE_WEBHOOK_SECRETS: `whsec_new,${signingSecret}`,
    COFFER_STRIPE_PRICES: JSON.stringify({ business_yearly: "business", price_dev_renamed: "business" }),
    COFFER_LIMIT_STRICT: "100",
  },
}).ready;
const owner = await newPerson(t, url, "owner@example.com");
const { organizations } = JSON.parse(await owner.data(["whoami", "--json"])) as { organizations: [{ id: string }] };
const [{ id: org }] = organizations;

/** Sends an event of Stripe about the organization. */
const bill = (type: string, ...options: string[]) =>
  owner.data(["dev", "stripe-event", type, "--org", org, ...options], {
    env: { COFFER_STRIPE_WEBHOOK_SECRETS: signingSecret },
  });

const splunk = await startHec(t);
const datadog = await startDatadog(t);
const azureReceiver = await startAzure(t);
const elastic = await startElastic(t);
const receivers: { format: string; receiver: Receiver; to: string; credentials: object }[] = [
  { format: "hec", receiver: splunk, to: splunk.url, credentials: { token: hecToken } },
  { format: "logs_intake", receiver: datadog, to: datadog.url, credentials: { api_key: datadogKey } },
  {
    format: "log_analytics",
    receiver: azureReceiver,
    to: azureReceiver.url,
    credentials: { ...azure, login_url: azureReceiver.url },
  },
  {
    format: "ecs",
    receiver: elastic,
    to: `${elastic.url}/coffer-audit/_bulk`,
    credentials: { api_key: elasticKey },
  },
];

const createEndpoint = ({ format, to, credentials }: (typeof receivers)[number]) =>
  owner.run(["siem", "create", "--format", format, "--to", to, "--name", format], {
    input: JSON.stringify(credentials),
  });

/** Whether the receiver has a record of this action whose target, or the folder of it, has this id. */
const has = ({ taken }: Receiver, action: string, id: string): boolean =>
  taken.some((event) => {
    const text = JSON.stringify(event);
    return text.includes(`"${action}"`) && text.includes(id);
  });

await owner.data(["folder", "create", "production"]);
await owner.data(["app", "create", "api"]);
const machine = await newMachine(owner, "api", ["production:read"]);
const { client_id: client } = JSON.parse(readFileSync(machine, "utf8")) as { client_id: string };
const uri = (title: string): string => `coffer://production/${title}/field/password`;

/** Makes a secret by the command. Returns its uid. */
async function makeSecret(title: string): Promise<string> {
  await owner.data(["set", uri(title)], { input: "hunter2" });
  const list = JSON.parse(await owner.data(["ls", "production", "--json"])) as { title: string; uid: string }[];
  const uid = list.find((secret) => secret.title === title)?.uid;
  if (uid === undefined) throw new Error(`${title} is not listed`);
  return uid;
}

/** Resolves when each receiver has a record of the action. */
async function arrives(action: string, id: string): Promise<void> {
  for (const { format, receiver } of receivers)
    await until(`${action} of ${id} arrives as ${format}`, () => has(receiver, action, id), patientSeconds);
}
let cache = "";

await t.test("the free plan has no SIEM endpoints", async (t) => {
  for (const receiver of receivers)
    t.match(await createEndpoint(receiver), { code: 4, stderr: /plan/ }, receiver.format);
});

await t.test("a business plan is bought: a machine's read appears in all four formats", async (t) => {
  await bill("customer.subscription.created", "--price", "business_yearly");
  for (const receiver of receivers)
    await until(
      `the plan allows ${receiver.format}`,
      async () => (await createEndpoint(receiver)).code === 0,
      patientSeconds,
    );
  await arrives("secret.created", await makeSecret("database"));
  t.equal(await owner.data(["read", "--config", machine, uri("database")]), "hunter2");
  const begin = performance.now();
  await arrives("secret.notation.resolved", client);
  t.comment(`${Math.round(performance.now() - begin)} ms from the read to the last of four receivers`);
});

await t.test("the plan ends: delivery pauses, and nothing is deleted", async (t) => {
  await bill("customer.subscription.deleted", "--price", "business_yearly");
  const isFree = async () => (await owner.run(["siem", "test", "hec"])).code === 4;
  await until("the plan is free", isFree, patientSeconds);
  cache = await makeSecret("cache");
  for (const title of ["cache", "database"]) t.equal(await owner.data(["read", uri(title)]), "hunter2");
  // This event is older than the cancellation.
  await bill("customer.subscription.updated", "--price", "business_yearly", "--created", "1700000000");
  t.ok(await isFree());
  for (const { format, receiver } of receivers) t.notOk(has(receiver, "secret.created", cache), format);
});

await t.test("it is bought again, by the price's id: the endpoints are there, and what waited arrives", async (t) => {
  await bill("customer.subscription.created", "--price", "renamed", "--subscription", "sub_dev_again");
  await arrives("secret.created", cache);
  await arrives("secret.created", await makeSecret("queue"));
  const endpoints = JSON.parse(await owner.data(["siem", "ls", "--json"])) as { name: string; enabled: boolean }[];
  t.same(endpoints.map(({ name }) => name).sort(), ["ecs", "hec", "log_analytics", "logs_intake"]);
  t.ok(endpoints.every(({ enabled }) => enabled));
  t.match(await owner.data(["audit", "verify"]), /^\d+:[0-9a-f]{64}$/);
});
