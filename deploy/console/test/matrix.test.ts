import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A platform engineer sees three environments side by side, and makes them equal.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const [same, one, other] = [1, 2, 3].map(() => newPassword({ kind: "characters", length: 20 })) as [
  string,
  string,
  string,
];
for (const folder of ["development", "production", "staging"]) await alice.folders.create(folder);
const set = (folder: string, title: string, value: string) =>
  alice.secrets.set(`coffer://${folder}/${title}/field/password`, value);
for (const folder of ["development", "production", "staging"]) await set(folder, "mail", same);
await set("production", "database", one);
await set("staging", "database", other);
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/matrix");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const box = (name: string) => page.getByRole("textbox", { name, exact: true });

await t.test("each row says where a field is equal, different and missing, without a value", async (t) => {
  await box("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await button("Sign in").click();
  await button("database: password in development: missing").waitFor();
  for (const [folder, state] of [
    ["production", "value A"],
    ["staging", "value B"],
  ] as const)
    t.equal(await button(`database: password in ${folder}: ${state}`).count(), 1, folder);
  for (const folder of ["development", "production", "staging"])
    t.equal(await button(`mail: password in ${folder}: equal`).count(), 1, folder);
  t.same(await inaccessible(page), []);
  await page.setViewportSize({ width: 320, height: 640 });
  const tableHeight = (await page.locator("table").boundingBox())?.height ?? 0;
  const shownHeight = await page.getByRole("region", { name: "Side by side" }).evaluate((each) => each.clientHeight);
  t.ok(shownHeight >= tableHeight, "no row is hidden in a small window");
  await page.setViewportSize({ width: 1280, height: 800 });
  const traces = await visitor.traces(page);
  for (const value of [same, one, other]) t.notOk(traces.includes(value));
  await page.getByLabel("Only rows that differ").check();
  t.equal(await button("mail: password in production: equal").count(), 0);
  await page.getByLabel("Only rows that differ").uncheck();
});

await t.test("a missing value is taken from another folder, which the page does not learn", async (t) => {
  await button("database: password in development: missing").click();
  const dialog = page.getByRole("dialog", { name: "development: database: password" });
  await dialog.waitFor();
  t.same(await inaccessible(page), []);
  await dialog.getByRole("button", { name: "Take the value of staging" }).click();
  await dialog.waitFor({ state: "detached" });
  t.equal(await alice.secrets.read("coffer://development/database/field/password"), other);
  t.notOk((await page.evaluate(() => seen.messages.join())).includes(other));
});

await t.test("a value is shown, copied and set in place", async (t) => {
  await button("database: password in production: value B").click();
  const dialog = page.getByRole("dialog", { name: "production: database: password" });
  await dialog.getByRole("button", { name: "Show", exact: true }).click();
  await dialog.getByText(one).waitFor();
  await dialog.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("status").filter({ hasText: "database: password: copied" }).waitFor();
  t.same(await page.evaluate(() => seen.copied), [one]);
  await dialog.getByLabel("New value", { exact: true }).fill(other);
  await dialog.getByRole("button", { name: "Save" }).click();
  await button("database: password in production: equal").waitFor();
  t.equal(await alice.secrets.read("coffer://production/database/field/password"), other);
  t.equal(await page.evaluate(() => document.activeElement?.tagName), "BUTTON", "the focus is where it was");
});

await t.test("a .env file becomes secrets; a wrong line sets nothing", async (t) => {
  await page.getByRole("combobox", { name: "Into the folder" }).selectOption("staging");
  await box("Lines of the file").fill("API_URL=https://api.example.com\nnothing\n");
  await button("Set all").click();
  await page.getByText("Line 2 is not NAME=value").waitFor();
  t.same(await inaccessible(page), []);
  await t.rejects(alice.secrets.read("coffer://staging/API_URL/field/value"), { message: /no such secret/ });
  await box("Lines of the file").fill(`API_URL=https://api.example.com # comment\nexport API_KEY="${one}"\n`);
  await button("Set all").click();
  await page.getByRole("status").filter({ hasText: "2 values set" }).waitFor();
  alice.secrets.expire();
  t.equal(await alice.secrets.read("coffer://staging/API_URL/field/value"), "https://api.example.com");
  t.equal(await alice.secrets.read("coffer://staging/API_KEY/field/value"), one);
  t.equal(await box("Lines of the file").inputValue(), "");
  t.equal(await button("API_KEY: value in production: missing").count(), 1);
  t.equal(await button("API_KEY: value in staging: set").count(), 1, "a single value has no equal");
  t.same(await visitor.troubles(), []);
});
