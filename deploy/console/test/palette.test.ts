import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, picture, startVisitors } from "./browser.ts";

// A person goes everywhere with the keyboard alone.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, organization: "Example", device });
const alice = personClient(session, url);
const { id: vaultId } = await alice.vaults.create("Private", { type: "personal" });
const fields = { name: "Café Zürich", username: "alice", password };
await alice.records.create(vaultId, { type: "login", fields });
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/people");
const dialog = page.getByRole("dialog", { name: "Go to" });
const box = dialog.getByRole("combobox", { name: "Screen, action or record" });
const options = dialog.getByRole("option");
const heading = (name: string) => page.getByRole("heading", { name, level: 1, exact: true });

await t.test("Ctrl-K opens it on a screen, and every screen is in it with its command", async (t) => {
  await page.keyboard.press("Control+k");
  t.equal(await dialog.count(), 0, "not before the login");
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await heading("People").waitFor();
  await page.keyboard.press("Control+k");
  await box.waitFor();
  t.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "combobox");
  for (const command of ["folder ls", "audit ls", "siem ls", "whoami --json", "travel on", "logout"])
    t.equal(await options.filter({ hasText: `coffer ${command}` }).count(), 1, command);
  t.same(await inaccessible(page), []);
  await picture(page, "palette");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

await t.test("typing narrows it, arrows move, Enter goes", async (t) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("side");
  t.equal(await options.count(), 1);
  await page.keyboard.press("Enter");
  await heading("Side by side").waitFor();
  t.equal(new URL(page.url()).pathname, "/matrix");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowUp");
  t.equal(await options.last().getAttribute("aria-selected"), "true", "up from the first is the last");
  const isSeen = await options.last().evaluate((option) => {
    const { bottom } = option.getBoundingClientRect();
    return bottom <= (option.parentElement?.getBoundingClientRect().bottom ?? 0) + 1;
  });
  t.ok(isSeen, "the list scrolls to it");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  t.equal(await options.nth(1).getAttribute("aria-selected"), "true");
  await page.keyboard.press("Enter");
  await heading("To do").waitFor();
});

await t.test("a record is found without case and accents, and opens", async (t) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("cafe ali");
  await options.filter({ hasText: "Café Zürich · alice" }).waitFor();
  t.same(await inaccessible(page), []);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Café Zürich" }).waitFor();
  t.equal(new URL(page.url()).pathname, "/", "the address names no record");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("nothing is called so");
  await dialog.getByText("Nothing found").waitFor();
  await page.keyboard.press("Enter");
  t.equal(await dialog.count(), 1, "Enter does nothing then");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

await t.test("it copies from the open record, and asks nothing about what is typed behind it", async (t) => {
  await box.waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("copy pass");
  t.match(await options.first().innerText(), /Copy password[^]*c$/);
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "Password: copied" }).waitFor();
  t.equal(await page.evaluate(() => seen.copied.at(-1)), password);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "User name" }).fill("bob");
  const questions: string[] = [];
  page.on("dialog", (question) => {
    questions.push(question.message());
    void question.dismiss();
  });
  await page.keyboard.press("Control+k");
  await box.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  t.same(questions, []);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new vault");
  await page.keyboard.press("Enter");
  t.equal(await page.getByRole("textbox", { name: "User name" }).inputValue(), "bob", "the person stays");
  t.equal(questions.length, 1);
  page.removeAllListeners("dialog");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new vault");
  await page.keyboard.press("Enter");
  const newVault = page.getByRole("dialog", { name: "New vault" });
  await newVault.waitFor();
  await page.keyboard.press("Escape");
  await newVault.waitFor({ state: "detached" });
});

await t.test("help lists its key; lock locks", async (t) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("keys and");
  await page.keyboard.press("Enter");
  const help = page.getByRole("dialog", { name: "Keys and commands" });
  await help.getByText("Ctrl K", { exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  t.equal(await dialog.count(), 0, "one dialog at a time");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("lock");
  await page.keyboard.press("Enter");
  await heading("Locked").waitFor();
  const traces = await visitor.traces(page);
  for (const text of [password, "Café"]) t.notOk(traces.includes(text));
  t.same(await visitor.troubles(), []);
});
