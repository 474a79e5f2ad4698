import { newPassword } from "@coffer/console-app/new-password";
import { personClient } from "@coffer/sdk";
import { register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A person without an organization, who works with the keyboard and changes their mind.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session } = await register({ url, email, password, device });
await personClient(session, url).vaults.create("Private", { type: "personal" });
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open();
const button = (name: string) => page.getByRole("button", { name, exact: true });
const box = (name: string) => page.getByRole("textbox", { name, exact: true });
/** Waits until the element with this text has the focus. */
const focusIsOn = (text: string) =>
  page.waitForFunction((expected) => document.activeElement?.textContent === expected, text);

await t.test("each screen that needs an organization says so, and how to get one", async (t) => {
  await box("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  for (const screen of ["Folders", "Side by side", "Machines", "People"]) {
    await button(screen).first().click();
    await page.getByRole("heading", { name: screen, exact: true }).waitFor();
    await page.getByText("You are in no organization yet.").waitFor();
    t.equal(await button("Join an organization").count(), 1, screen);
    await focusIsOn(screen);
    t.equal(await page.title(), `${screen} · Coffer`);
  }
  t.same(await inaccessible(page), []);
  t.equal(await button("People").first().getAttribute("aria-current"), "page");
  t.equal(await page.locator("header").getByText("People").isVisible(), true, "a wide window names the screens");
  const cramped = await page
    .locator("header button")
    .evaluateAll((buttons) => buttons.filter((each) => each.scrollWidth > each.clientWidth).length);
  t.equal(cramped, 0, "each name fits its button");
  await page.setViewportSize({ width: 320, height: 640 });
  const tops = await page.locator("header button").evaluateAll((buttons) => {
    return buttons.flatMap((each) => (each.checkVisibility() ? [each.getBoundingClientRect().top] : []));
  });
  t.equal(new Set(tops).size, 1, "a small window has all icons in one row");
  await page.setViewportSize({ width: 1280, height: 800 });
});

await t.test("a vault to share needs an organization too", async (t) => {
  await button("Back to the records").click();
  await page.waitForFunction(() => document.title === "Coffer");
  await button("New vault").click();
  await box("Name of the vault").fill("Family");
  await page.getByLabel("To share with colleagues").check();
  await button("Create").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("You are in no organization yet.").waitFor();
  t.same(await inaccessible(page), []);
  await dialog.getByRole("button", { name: "People" }).click();
  await button("Join an organization").waitFor();
  await button("Back to the records").click();
});

await t.test("what is typed into a new record is not lost by Escape, and is saved by keyboard", async (t) => {
  await page.keyboard.press("Escape");
  await button("New record").last().click();
  await box("Name").fill("Mail");
  const questions: string[] = [];
  page.once("dialog", (question) => {
    questions.push(question.message());
    void question.dismiss();
  });
  await page.keyboard.press("Escape");
  t.equal(await box("Name").inputValue(), "Mail");
  t.same(questions, ["Discard what you typed? It is not saved."]);
  await page.getByLabel("Authenticator secret", { exact: true }).fill("not a secret!");
  await page.getByText("This is not an authenticator secret").waitFor();
  t.same(await inaccessible(page), []);
  await page.getByLabel("Authenticator secret", { exact: true }).fill("");
  await button("Generate").click();
  // An empty field has it at once: who saves now has a password.
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>("input[type=password]")?.value.length === 20,
  );
  await button("Use it").click();
  await focusIsOn("Generate");
  await box("Name").press("Enter");
  await page.getByRole("heading", { name: "Mail" }).waitFor();
  await focusIsOn("Mail");
});

await t.test("a changed record is left only when the person agrees", async (t) => {
  await page.keyboard.press("e");
  await box("User name").fill("alice");
  page.once("dialog", (question) => void question.dismiss());
  await button("Folders").click();
  t.equal(await box("User name").inputValue(), "alice");
  page.once("dialog", (question) => void question.dismiss());
  await page.goBack();
  t.equal(await box("User name").inputValue(), "alice");
  t.equal(page.url(), `${url}/`);
  await button("Save").click();
  await page.getByRole("region", { name: "Mail" }).getByText("alice", { exact: true }).waitFor();
  await focusIsOn("Mail");
  await page.keyboard.press("e");
  await box("User name").fill("bob");
  page.once("dialog", (question) => void question.accept());
  await button("People").click();
  await button("Join an organization").waitFor();
  t.same(await visitor.troubles(), []);
});

await t.test("a record takes fields of the person's own, by keyboard, and forgets an empty one", async (t) => {
  await button("Back to the records").click();
  await page.getByRole("grid").press("Enter");
  await page.getByRole("heading", { name: "Mail" }).waitFor();
  await page.keyboard.press("e");
  for (const [name, value, isHidden] of [
    ["Customer number", "1234", false],
    ["Answer", "blue", true],
  ] as const) {
    await button("Add a field").click();
    await box("Name of the field").fill(name);
    if (isHidden) await page.getByLabel("Hide its value").check();
    t.same(await inaccessible(page), []);
    await box("Name of the field").press("Enter");
    await page.waitForFunction(
      (label) => (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.textContent === label,
      name,
    );
    await page.keyboard.type(value);
  }
  await button("Save").click();
  const record = page.getByRole("region", { name: "Mail" });
  await record.getByText("1234").waitFor();
  t.equal(await record.getByText("blue").count(), 0, "it is hidden");
  await page.getByRole("button", { name: "Show: Answer" }).click();
  await record.getByText("blue").waitFor();
  await page.keyboard.press("e");
  await page.getByLabel("Answer", { exact: true }).fill("");
  await button("Save").click();
  await record.getByText("1234").waitFor();
  t.equal(await record.getByText("Answer").count(), 0);
});

await t.test("a vault is renamed, and deleted after a question", async (t) => {
  await page
    .getByRole("navigation")
    .getByRole("button", { name: /^Private/ })
    .click();
  await button("Settings").click();
  const dialog = page.getByRole("dialog", { name: "Settings of “Private”" });
  t.same(await inaccessible(page), []);
  await dialog.getByRole("textbox", { name: "Name" }).fill("Family");
  await dialog.getByRole("button", { name: "Rename" }).click();
  const renamed = page.getByRole("navigation").getByRole("button", { name: /^Family/ });
  await renamed.waitFor();
  await button("Settings").click();
  await button("Delete “Family”").click();
  t.same(await inaccessible(page), []);
  await button("Delete").last().click();
  await renamed.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "You have no vault yet" }).waitFor();
  t.same(await visitor.troubles(), []);
});

await t.test("without a vault, the import makes one and then asks for the file", async (t) => {
  await button("Import").click();
  await button("New vault").click();
  await box("Name of the vault").fill("Imported");
  await button("Create").click();
  await page.getByRole("combobox", { name: "Into the vault" }).waitFor();
  t.equal(await page.getByLabel("File", { exact: true }).count(), 1);
  t.same(await inaccessible(page), []);
  t.same(await visitor.troubles(), []);
});

await t.test("a locked session leads to the recovery key too", async (t) => {
  await button("Lock").click();
  await button("Forgot your password?").click();
  await page.getByRole("heading", { name: "Back in with the recovery key" }).waitFor();
  t.equal(await box("E-mail").inputValue(), email);
  t.same(await inaccessible(page), []);
  t.same(await visitor.troubles(), []);
});
