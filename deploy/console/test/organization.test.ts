import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { newCli } from "../../local/test/cli/cli-person.ts";
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
const bob = await register({ url, email: "bob@example.com", password, organization: "Second", device });
const inSecond = personClient(bob.session, url);
const { id: second } = await inSecond.organizations.current();
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

const choice = page.getByRole("combobox", { name: "Organization", exact: true });

await t.test("with one organization there is nothing to choose", async (t) => {
  t.equal(await choice.count(), 0);
  const { token } = await inSecond.invites.create(email, "admin");
  await alice.invites.accept(token);
});

await t.test("a person in two organizations chooses the one that the screens of all tabs are about", async (t) => {
  const other = await visitor.open("/people");
  await other.getByRole("heading", { name: "The members of Example" }).waitFor();
  await page.reload();
  await choice.waitFor();
  t.same(await choice.getByRole("option").allInnerTexts(), ["Example", "Second"]);
  await page.getByRole("heading", { name: "Example", level: 2 }).waitFor();
  await choice.selectOption("Second");
  await page.getByRole("heading", { name: "Second", level: 2 }).waitFor();
  t.match(await fact("Your role").innerText(), /Admin/);
  t.match(await fact("Id").innerText(), second);
  await other.getByRole("heading", { name: "The members of Second" }).waitFor();
  await other.getByText("bob@example.com").waitFor();
  await other.close();
  t.same(await inaccessible(page), []);
  await page.reload();
  await page.getByRole("heading", { name: "Second", level: 2 }).waitFor();
  t.equal(await choice.locator("option:checked").innerText(), "Second");
});

await t.test("what the person makes belongs to the chosen organization", async (t) => {
  await page.goto(`${url}/folders`);
  await page.getByRole("textbox", { name: "Name of the folder" }).fill("Deploy");
  await page.getByRole("textbox", { name: "Name of the folder" }).press("Enter");
  await page.getByRole("heading", { name: "Deploy", level: 2 }).waitFor();
  const names = async (organization: string) =>
    (await personClient(session, url, { organization }).folders.list()).map(({ name }) => name);
  t.same(await names(second), ["Deploy"]);
  t.same(await names((await alice.organizations.current()).id), []);

  await page.goto(url);
  await page.getByRole("button", { name: "New vault" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New vault" });
  await dialog.getByRole("textbox", { name: "Name of the vault" }).fill("Team");
  t.equal(await choice.count(), 0, "a vault for the person alone is in no organization");
  await dialog.getByRole("radio", { name: "To share with colleagues" }).check();
  await choice.waitFor();
  t.equal(await choice.locator("option:checked").innerText(), "Second");
  t.same(await inaccessible(page), []);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "No record here yet" }).waitFor();
  await page.getByRole("button", { name: "Share", exact: true }).waitFor();
  const vaults = await alice.vaults.list();
  t.match(vaults, [{ name: "Team", type: "shared", org_id: second }]);
});

await t.test("the palette switches to another organization by the keyboard", async (t) => {
  await page.goto(`${url}/folders`);
  await page.getByRole("heading", { name: "Deploy", level: 2 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Switch to Example" }).waitFor();
  await page.keyboard.type("switch");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You have no folder yet" }).waitFor();
  t.equal(await choice.locator("option:checked").innerText(), "Example");
});

await t.test("input that is stored nowhere is not lost without a question", async (t) => {
  await choice.selectOption("Second");
  await page.getByRole("heading", { name: "Deploy", level: 2 }).waitFor();
  await page.getByLabel("Value", { exact: true }).fill("unsaved");
  const asked = page.waitForEvent("dialog").then((question) => question.dismiss());
  await choice.selectOption("Example");
  await asked;
  await page.waitForFunction(
    () =>
      document.querySelector<HTMLSelectElement>(".organization-choice select")?.selectedOptions[0]?.text === "Second",
  );
  t.equal(await page.getByLabel("Value", { exact: true }).inputValue(), "unsaved");
  await page.getByLabel("Value", { exact: true }).fill("");
});

await t.test("a person who was removed from the chosen organization is told, and sees another one", async (t) => {
  await inSecond.members.remove(session.user.id, { force: true });
  await page.getByRole("button", { name: "People", exact: true }).first().click();
  await page.getByText("The screens are about another organization now.").waitFor();
  await page.getByRole("heading", { name: "The members of Example" }).waitFor();
  t.equal(await choice.count(), 0);
  t.notOk((await visitor.traces(page)).includes(password));
  t.same(await visitor.troubles(), []);
});
