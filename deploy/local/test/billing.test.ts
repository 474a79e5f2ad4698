import { randomBytes } from "node:crypto";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { type Cli, newPerson } from "./cli/cli-person.ts";
import { npmStart, until } from "./npm-start.ts";

/** An organization as its owner sees it. */
async function orgOf(cli: Cli): Promise<{ id: string }> {
  const { organizations } = JSON.parse(await cli.data(["whoami", "--json"])) as { organizations: { id: string }[] };
  const [org] = organizations;
  if (org === undefined) throw new Error("the person has no organization");
  return org;
}

for (const processes of ["one", "separate"]) {
  await t.test(`plans come from Stripe's events, COFFER_PROCESSES=${processes}`, async (t) => {
    const secret = `whsec_${randomBytes(24).toString("hex")}`;
    const { url, services } = await npmStart(t, {
      directory: testDirectory(t),
      env: {
        COFFER_PROCESSES: processes,
        COFFER_STRIPE_WEBHOOK_SECRETS: `whsec_old,${secret}`,
        COFFER_LIMIT_STRICT: "100",
      },
    }).ready;
    t.ok(services["billing-webhook"], "the service runs");
    const cli = await newPerson(t, url, "owner@example.com");
    const { id } = await orgOf(cli);
    const send = (type: string, ...options: string[]) =>
      cli.data(["dev", "stripe-event", type, "--org", id, ...options], {
        env: { COFFER_STRIPE_WEBHOOK_SECRETS: secret },
      });
    const actions = async (): Promise<string[]> => {
      const records = JSON.parse(await cli.data(["audit", "ls", "--json"])) as { action: string; outcome: string }[];
      return records.filter(({ action }) => action.startsWith("billing.")).map(({ action }) => action);
    };
    await send("customer.subscription.created", "--price", "team");
    await send("invoice.paid");
    await send("customer.subscription.deleted");
    await until(async () => (await actions()).length === 3);
    t.same((await actions()).sort(), [
      "billing.invoice.paid",
      "billing.subscription.cancelled",
      "billing.subscription.created",
    ]);
    const refused = await cli.run(["dev", "stripe-event", "invoice.paid", "--org", id], {
      env: { COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_another" },
    });
    t.match(refused, { code: 2, stderr: /another COFFER_STRIPE_WEBHOOK_SECRETS/ });
    t.match(await cli.data(["audit", "verify"]), /^\d+:[0-9a-f]{64}$/);
  });
}

await t.test("without signing secrets billing is off", async (t) => {
  const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
  const cli = await newPerson(t, url, "owner@example.com");
  const { id } = await orgOf(cli);
  const outcome = await cli.run(["dev", "stripe-event", "invoice.paid", "--org", id], {
    env: { COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_any" },
  });
  t.match(outcome, { code: 5, stderr: /billing is off/ });
});
