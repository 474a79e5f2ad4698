import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { newCli } from "../../local/test/cli-person.ts";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// A person makes an organization, and an owner sees its plan and what billing has done.

const env = { COFFER_STRIPE_WEBHOOK_SECRETS: "whsec_one", COFFER_STRIPE_PRICES: '{"team_monthly": "team"}' };
const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, device });
const alice = personClient(session, url);
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/organization");
const fact = (name: string) => page.locator("dl.fields > div").filter({ hasText: name });
const billing = page.getByRole("region", { name: "Billing", exact: true });

await t.test("a person without an organization makes one, with a history", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("You are in no organization yet.").waitFor();
  t.same(await inaccessible(page), []);
  await page.getByRole("textbox", { name: "Name of the organization" }).fill("Example");
  await page.getByRole("textbox", { name: "Name of the organization" }).press("Enter");
  await page.getByRole("heading", { name: "Example", level: 2 }).waitFor();
  t.match(await fact("Plan").innerText(), /Free/);
  t.match(await fact("Your role").innerText(), /Owner/);
  await billing.getByText("No event of billing.").waitFor();
  t.same(await inaccessible(page), []);
  t.match(await alice.organizations.list(), [{ name: "Example", role: "owner" }]);
  t.same(
    (await alice.members.confirmed()).map((member) => member.email),
    [email],
  );
});

await t.test("a subscription changes the plan, and its events are listed", async (t) => {
  const { id } = await alice.organizations.current();
  const bill = (type: string) =>
    newCli(t, url).data(["dev", "stripe-event", type, "--org", id, "--price", "team_monthly"], { env });
  await bill("customer.subscription.created");
  await until("the plan is there", async () => (await alice.organizations.current()).plan === "team");
  await until("its record is there", async () => {
    const { value } = await alice.audit({ actor_id: "stripe" }).next();
    return (value?.records ?? []).length > 0;
  });
  await page.reload();
  await billing.getByText("billing.subscription.created").waitFor();
  t.match(await fact("Plan").innerText(), /Team/);
  t.match(await fact("Id").innerText(), id);
  t.same(await inaccessible(page), []);
  await picture(page, "organization");
});

await t.test("a second organization is named, and not shown", async (t) => {
  const bob = await register({ url, email: "bob@example.com", password, organization: "Second", device });
  const { token } = await personClient(bob.session, url).invites.create(email, "member");
  await alice.invites.accept(token);
  await page.reload();
  await page.getByRole("region", { name: "Your other organizations" }).getByText("Second").waitFor();
  await page.getByRole("heading", { name: "Example", level: 2 }).waitFor();
  t.same(await inaccessible(page), []);
  t.notOk((await visitor.traces(page)).includes(password));
  t.same(await visitor.troubles(), []);
});
