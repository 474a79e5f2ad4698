import { newPassword } from "@coffer/console-app/new-password";
import { bootstrap, createClient, personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A platform engineer gives machines their folders, sees them, and ends them.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
await alice.folders.create("production");
await alice.folders.create("staging");
await alice.secrets.set("coffer://production/database/field/password", "s3cret");
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/machines");
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const box = (name: string) => page.getByRole("textbox", { name, exact: true });
const choice = (name: string) => page.getByRole("combobox", { name, exact: true });
const api = page.getByRole("region", { name: "api", exact: true });
let token = "";

await t.test("a token has folders with permissions, networks and lifetimes", async (t) => {
  await box("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await page.getByRole("heading", { name: "You have no machine yet" }).waitFor();
  t.same(await inaccessible(page), []);
  await box("Application").fill("api");
  t.ok(await button("Make a token").isDisabled(), "no folder is given yet");
  await choice("What the machine may do in production").selectOption("write");
  await page.getByText("Limits").click();
  await box("Networks (optional)").fill("127.0.0.0/8, ::1/128");
  await choice("The token counts for").selectOption("1 hour");
  await choice("The machine lives for").selectOption("30 days");
  t.same(await inaccessible(page), []);
  await button("Make a token").click();
  const sheet = page.getByRole("region", { name: "One-time token" });
  await sheet.getByText("coffer bootstrap --url").waitFor();
  token = await sheet.locator(".recovery").innerText();
  await button("I have it").click();
  await api.getByText("Tokens that no machine has used").waitFor();
  t.notOk((await visitor.traces(page)).includes(token));
});

await t.test("the machine, its key's words, folders and last request are shown", async (t) => {
  const machine = await bootstrap({ url, token, save: () => Promise.resolve() });
  await createClient(machine).set("coffer://production/other/field/password", "x");
  const seen = async () =>
    (await alice.machines.list((await alice.applications.list())[0]?.id ?? ""))[0]?.last_used_at != null;
  await until("the service has stored that the machine was there", seen, 60);
  await page.reload();
  const row = api.getByRole("list", { name: "Machines" }).getByRole("listitem").filter({ hasText: machine.client_id });
  await row.getByText(/^last seen .* from (127\.0\.0\.1|::1) · ends /).waitFor();
  t.match(await row.innerText(), /production: may change/);
  t.notMatch(await row.innerText(), /staging/);
  const [application] = await alice.applications.list();
  const [shown] = await alice.machines.list(application?.id ?? "");
  const days = (Date.parse(shown?.expires_at ?? "") - Date.now()) / (24 * 60 * 60 * 1_000);
  t.ok(days > 29.9 && days <= 30, String(days));
  t.equal(await api.getByText("Tokens that no machine has used").count(), 0, "the token is used");
  t.same(await inaccessible(page), []);
});

await t.test("a token is withdrawn", async (t) => {
  await choice("What the machine may do in staging").selectOption("read");
  await button("Make a token").click();
  await button("I have it").click();
  await button("Withdraw the token of api").click();
  await api.getByText("Tokens that no machine has used").waitFor({ state: "detached" });
  t.pass("it is gone");
});

await t.test("who is revoked is out, and the folder that needs a new key is named", async (t) => {
  await button(/^Revoke api \(/).click();
  const question = page.getByRole("region", { name: /^Revoke api/ });
  t.match(await question.innerText(), "loses access within a second");
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("coffer folder rotate production").waitFor();
  await api.getByText("revoked", { exact: true }).waitFor();
  t.equal(await page.getByRole("button", { name: /^Revoke api/ }).count(), 0);
});

await t.test("an application is deleted with its machines", async (t) => {
  await button("Delete the application api").click();
  await page
    .getByRole("region", { name: "Delete the application api" })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByRole("heading", { name: "You have no machine yet" }).waitFor();
  t.same(await alice.applications.list(), []);
  t.same(await visitor.troubles(), []);
});

await t.test("a member is told whose the machines are", async (t) => {
  const bob = await register({ url, email: "bob@example.com", password, device });
  const { token: invitation } = await alice.invites.create("bob@example.com", "member");
  await personClient(bob.session, url).invites.accept(invitation);
  const other = await (await startVisitors(t, url))();
  const bobs = await other.open("/machines");
  await bobs.getByRole("textbox", { name: "E-mail" }).fill("bob@example.com");
  await bobs.getByLabel("Password", { exact: true }).fill(password);
  await bobs.getByRole("button", { name: "Sign in" }).click();
  await bobs.getByRole("alert").filter({ hasText: "Machines are for owners and admins" }).waitFor();
  t.same(await inaccessible(bobs), []);
  t.same(await other.troubles(), []);
});
