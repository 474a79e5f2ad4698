import { newPassword } from "@coffer/console-app/new-password";
import { bootstrap, createClient, personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A platform engineer's first minute: a folder, a secret, a machine that reads it.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const value = newPassword({ kind: "characters", length: 24 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/folders");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const box = (name: string) => page.getByRole("textbox", { name, exact: true });
const hidden = (name: string) => page.getByLabel(name, { exact: true });
const members = page.getByRole("region", { name: "Who has “production”" });
const production = page.getByRole("region", { name: "production", exact: true });

await t.test("who has no folder is told what it is for, and makes one", async (t) => {
  await box("E-mail").fill(email);
  await hidden("Password").fill(password);
  await button("Sign in").click();
  await page.getByRole("heading", { name: "You have no folder yet" }).waitFor();
  t.same(await inaccessible(page), []);
  await box("Name of the folder").fill("production");
  await button("Create").click();
  await production.getByText("No secret here yet.").waitFor();
  t.equal(new URL(page.url()).pathname, "/folders", "the address names no folder");
});

await t.test("a value is set, hidden, shown and copied; so is its name for programs", async (t) => {
  await box("Title").fill("data base");
  await hidden("Value").fill(value);
  await button("Save").click();
  await production.getByText("data base", { exact: true }).waitFor();
  t.same(await inaccessible(page), []);
  t.equal(await alice.secrets.read("coffer://production/data%20base/field/password"), value);
  t.notOk((await page.locator("body").innerText()).includes(value));
  await button("Show: data base: password").click();
  await production.getByText(value).waitFor();
  await button("Hide: data base: password").click();
  await button("Copy: data base: password").click();
  await page.getByRole("status").filter({ hasText: "data base: password: copied" }).waitFor();
  await button("Copy name: data base: password").click();
  await page.getByRole("status").filter({ hasText: "Name: copied" }).waitFor();
  const copied = await page.evaluate(() => seen.copied);
  t.same(copied, [value, "coffer://production/data%20base/field/password"]);
});

await t.test("a private key is pasted with its lines, and the screen says what it replaces", async (t) => {
  await box("Field").fill("key");
  await hidden("Value").evaluate((input, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, `${value}\n${value}\n`);
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  t.same(await inaccessible(page), []);
  await page.getByText("coffer set coffer://production/data%20base/field/key").waitFor();
  t.equal(await page.getByText("It replaces the present value").count(), 0);
  await box("Field").fill("password");
  await page.getByText("It replaces the present value").waitFor();
  await box("Field").fill("key");
  await button("Save").click();
  await button("Show: data base: key").waitFor();
  alice.secrets.expire();
  t.equal(await alice.secrets.read("coffer://production/data%20base/field/key"), `${value}\n${value}\n`);
  t.equal(await hidden("Value").inputValue(), "");
});

await t.test("a token makes a machine that reads the value", async (t) => {
  await box("Application").fill("api");
  await button("Make a token").click();
  const sheet = page.getByRole("region", { name: "One-time token" });
  await sheet.getByText("coffer bootstrap --url").waitFor();
  t.same(await inaccessible(page), []);
  const token = await sheet.locator(".recovery").innerText();
  const machine = await bootstrap({ url, token, save: () => Promise.resolve() });
  const client = createClient(machine);
  t.equal(await client.read("coffer://production/data%20base/field/password"), value);
  await t.rejects(client.set("coffer://production/other/field/password", "x"), { code: "access_denied" });
  await button("I have it").click();
  await box("Application").waitFor();
  const traces = await visitor.traces(page);
  for (const text of [token, value, password]) t.notOk(traces.includes(text));
  t.same(await visitor.troubles(), []);
});

await t.test("the screen says who has the folder, and where to invite others", async (t) => {
  await members.getByText("alice@example.com (you)").waitFor();
  await members.getByText("There is no other colleague to share it with.").waitFor();
  t.equal(await members.getByRole("button", { name: "Remove alice@example.com" }).count(), 0);
  t.same(await inaccessible(page), []);
});

await t.test("a folder is shared with a colleague, and taken away with a new key", async (t) => {
  const bob = await register({ url, email: "bob@example.com", password, device });
  const { token } = await alice.invites.create("bob@example.com", "member");
  const bobs = personClient(bob.session, url, { accept: () => Promise.resolve(true) });
  await bobs.invites.accept(token);
  await page.reload();
  await members.getByText("api (machine)").waitFor();
  t.equal(await members.getByRole("button", { name: "Remove api" }).count(), 0, "a machine ends on its own screen");
  t.same(await inaccessible(page), []);
  await members.getByRole("combobox", { name: "Permission", exact: true }).selectOption("may change");
  await members.getByRole("button", { name: "Share" }).click();
  await members.getByRole("combobox", { name: "What bob@example.com may do" }).waitFor();
  t.equal(await bobs.secrets.read("coffer://production/data%20base/field/password"), value);
  await members.getByRole("button", { name: "Remove bob@example.com" }).click();
  await members
    .getByRole("region", { name: "Remove bob@example.com" })
    .getByRole("button", { name: "Remove", exact: true })
    .click();
  await members.getByRole("status").filter({ hasText: "It has a new key." }).waitFor();
  t.same(await inaccessible(page), []);
  t.match(await alice.folders.list(), [{ name: "production", key_version: 2 }]);
  bobs.secrets.expire();
  await t.rejects(bobs.secrets.read("coffer://production/data%20base/field/password"), { code: "access_denied" });
});

await t.test("a folder gets a new key", async (t) => {
  await button("New key").click();
  const question = page.getByRole("region", { name: "New key for production" });
  t.same(await inaccessible(page), []);
  await question.getByRole("button", { name: "New key" }).click();
  await question.waitFor({ state: "detached" });
  await production.getByRole("status").filter({ hasText: "It has a new key." }).waitFor();
  t.match(await alice.folders.list(), [{ name: "production", key_version: 3 }]);
  t.same(await visitor.troubles(), []);
});

await t.test("a folder is renamed, and deleted with its secrets after a question", async (t) => {
  await production.getByLabel("Value", { exact: true }).fill("typed");
  page.once("dialog", (question) => void question.dismiss());
  await button("Machines").click();
  t.equal(await production.getByLabel("Value", { exact: true }).inputValue(), "typed", "it is not lost unasked");
  await production.getByLabel("Value", { exact: true }).fill("");
  await button("Settings").click();
  const dialog = page.getByRole("dialog", { name: "Settings of “production”" });
  t.same(await inaccessible(page), []);
  await dialog.getByRole("textbox", { name: "Name" }).fill("live");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "live", exact: true }).waitFor();
  t.match(await alice.folders.list(), [{ name: "live" }]);
  await button("Settings").click();
  await button("Delete “live”").click();
  await button("Delete").last().click();
  await page.getByRole("heading", { name: "You have no folder yet" }).waitFor();
  t.same(await alice.folders.list(), []);
  t.same(await visitor.troubles(), []);
});
