import { newPassword } from "@coffer/console-app/new-password";
import { oneTimeCode } from "@coffer/console-app/one-time-code";
import { personClient } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import { checkRecoverySeal } from "@coffer/sdk/backup";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A person's own key, second factor, password and sessions.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const email = "alice@example.com";
const [password, changed] = [newPassword({ kind: "words", length: 5 }), newPassword({ kind: "words", length: 5 })];
const device = { id: crypto.randomUUID(), name: "old laptop", type: "cli" } as const;
const { session, recoveryKey: firstRecoveryKey } = await register({ url, email, password, device });
const other = personClient(session, url);
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/account");

const region = (name: string) => page.getByRole("region", { name, exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const hidden = (name: string) => page.getByLabel(name, { exact: true });
const codeField = page.getByRole("textbox", { name: "Code from your authenticator, or a recovery code" });
let recoveryCodes: string[] = [];
let secondRecoveryKey = "";

await t.test("the words are those of the person's own key", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await hidden("Password").fill(password);
  await button("Sign in").click();
  await page.getByRole("heading", { name: "Account", exact: true }).waitFor();
  await page.getByText((await other.fingerprint()).words).waitFor();
  t.same(await inaccessible(page), []);
});

await t.test("it says what runs here, and how to compare it with a release", async (t) => {
  await button("About").click();
  await page.getByText(`coffer console verify --url ${url}`).waitFor();
  const files = [...(await (await fetch(url)).text()).matchAll(/"(\/assets\/(?:page|console)\.[^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  t.equal(files.length, 2);
  for (const file of files) await page.getByText(file).waitFor();
  t.match(await page.locator("main").innerText(), /\/assets\/worker\.\w+\.js/);
  t.same(await inaccessible(page), []);
  await button("Account").first().click();
  await region("Sessions").waitFor();
});

await t.test("this browser remembers the language, and when it locks", async (t) => {
  const settings = region("In this browser");
  await settings.getByRole("combobox", { name: "Lock after" }).selectOption("1 minute");
  await settings.getByRole("combobox", { name: "Language" }).selectOption("Deutsch");
  await settings.getByRole("button", { name: "Reload to see it" }).click();
  await page.getByRole("heading", { name: "Konto", exact: true }).waitFor();
  t.equal(await page.evaluate(() => document.documentElement.lang), "de");
  const german = region("In diesem Browser");
  t.equal(await german.getByRole("combobox", { name: "Sperren nach" }).inputValue(), "1");
  await german.getByRole("checkbox").uncheck();
  t.same(await inaccessible(page), []);
  await german.getByRole("combobox", { name: "Sprache" }).selectOption("Wie der Browser");
  await page.reload();
  await settings.getByRole("checkbox", { name: /^Single keys/ }).waitFor();
  t.notOk(await settings.getByRole("checkbox").isChecked());
  await settings.getByRole("combobox", { name: "Lock after" }).selectOption("60 minutes");

  // `l` locks, unless single keys are off; Ctrl-K is none.
  await page.goto(url);
  await page.getByRole("heading", { name: "You have no vault yet" }).waitFor();
  await page.locator("body").press("Escape");
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("l");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${url}/account`);
  await settings.getByRole("checkbox").check();
  await page.goto(url);
  await page.getByRole("heading", { name: "You have no vault yet" }).waitFor();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("l");
  await hidden("Password").fill(password);
  await button("Unlock").click();
  await page.goto(`${url}/account`);
  await settings.waitFor();
});

await t.test("another session is ended, and that device is out", async (t) => {
  const sessions = region("Sessions").getByRole("listitem");
  await sessions.filter({ hasText: "old laptop" }).waitFor();
  t.equal(await sessions.count(), 2);
  await button("End the session on old laptop").click();
  await sessions.filter({ hasText: "old laptop" }).waitFor({ state: "detached" });
  await t.rejects(other.account(), { code: "invalid_token" });
  t.equal(await button("End all others").count(), 0, "there is none left");
});

await t.test("the second factor is switched on with a QR code, and gives recovery codes once", async (t) => {
  const factor = region("Second factor");
  await factor.getByText("A login needs your password alone.").waitFor();
  await factor.getByRole("button", { name: "Switch on" }).click();
  await page.waitForFunction(() => document.activeElement?.getAttribute("type") === "password");
  await hidden("Password").fill("not the password");
  await factor.getByRole("button", { name: "Switch on" }).click();
  await factor.getByText("That is not your password.").waitFor();
  await hidden("Password").fill(password);
  await factor.getByRole("button", { name: "Switch on" }).click();
  await factor.getByRole("img", { name: "QR code for an authenticator" }).waitFor();
  t.same(await inaccessible(page), []);
  const secret = /[A-Z2-7]{32}/.exec(await factor.innerText())?.[0] ?? "";
  const first = factor.getByRole("textbox", { name: "First code" });
  await first.fill("000000");
  await factor.getByRole("button", { name: "Confirm" }).click();
  await factor.getByText("That code is not valid now.").waitFor();
  await first.fill((await oneTimeCode(secret, Date.now()))?.code ?? "");
  await factor.getByRole("button", { name: "Confirm" }).click();
  const codes = region("Recovery codes");
  await codes.waitFor();
  t.same(await inaccessible(page), []);
  recoveryCodes = await codes.getByRole("listitem").allInnerTexts();
  t.ok(recoveryCodes.length >= 8);
  await codes.getByRole("button", { name: "I have them" }).click();
  await factor.getByText("A login needs a code from your authenticator.").waitFor();
  const traces = await visitor.traces(page);
  for (const text of [secret, ...recoveryCodes]) t.notOk(traces.includes(text), "they are shown once");
});

await t.test(
  "the password is changed with a code and a new recovery key, and opens the lock from then on",
  async (t) => {
    const own = region("Your password");
    await own.getByRole("button", { name: "Change the password" }).click();
    await hidden("Password").fill(password);
    await hidden("New password").fill("too short");
    await hidden("Password again").fill("another");
    await own.getByRole("button", { name: "Change the password" }).click();
    await own.getByText("A password has at least 10 characters.").waitFor();
    await hidden("New password").fill(changed);
    await hidden("Password again").fill(changed);
    await own.getByRole("checkbox", { name: /^Make a new recovery key/ }).check();
    await own.getByRole("button", { name: "Change the password" }).click();
    await own.getByText("Your account has a second factor: type a code.").waitFor();
    t.same(await inaccessible(page), []);
    await codeField.fill(recoveryCodes[0] ?? "");
    await own.getByRole("button", { name: "Change the password" }).click();
    const sheet = region("Your recovery key");
    await sheet.waitFor();
    const [recoveryKey = ""] = /cfr1_[\w-]{43}/.exec(await sheet.innerText()) ?? [];
    t.ok(recoveryKey !== "" && recoveryKey !== firstRecoveryKey);
    secondRecoveryKey = recoveryKey;
    t.same(await inaccessible(page), []);

    await button("Lock").click();
    await hidden("Password").fill(password);
    await button("Unlock").click();
    await page.getByText("That is not your password.").waitFor();
    await hidden("Password").fill(changed);
    await button("Unlock").click();
    await region("Second factor").waitFor();
    const traces = await visitor.traces(page);
    for (const text of [password, changed, recoveryKey]) t.notOk(traces.includes(text));
  },
);

await t.test("the second factor is switched off with the password and a code", async () => {
  const factor = region("Second factor");
  await factor.getByRole("button", { name: "Switch off" }).click();
  await hidden("Password").fill(changed);
  await factor.getByRole("button", { name: "Switch off" }).click();
  await codeField.fill(recoveryCodes[1] ?? "");
  await factor.getByRole("button", { name: "Switch off" }).click();
  await factor.getByText("A login needs your password alone.").waitFor();
});

await t.test("a new recovery key is made while the password stays, and the one before is of no use", async (t) => {
  const elsewhere = await login({ url, email, password: changed, device });
  const sheetOf = region("Recovery key");
  await sheetOf.getByRole("button", { name: "Make a new recovery key" }).click();
  await sheetOf.getByText("The old key is of no use then").waitFor();
  t.same(await inaccessible(page), []);
  await hidden("Password").fill("not the password");
  await hidden("Password").press("Enter");
  await sheetOf.getByText("That is not your password.").waitFor();
  await sheetOf.getByRole("button", { name: "Cancel" }).click();
  t.equal(await hidden("Password").count(), 0);
  await sheetOf.getByRole("button", { name: "Make a new recovery key" }).click();
  await hidden("Password").fill(changed);
  await hidden("Password").press("Enter");
  const sheet = region("Your recovery key");
  await sheet.waitFor();
  const [recoveryKey = ""] = /cfr1_[\w-]{43}/.exec(await sheet.innerText()) ?? [];
  t.same(await inaccessible(page), []);
  await t.rejects(personClient(elsewhere, url).account(), { code: "invalid_token" }, "other sessions have ended");
  await button("I have it").click();
  await sheet.waitFor({ state: "detached" });

  await button("Lock").click();
  await hidden("Password").fill(changed);
  await button("Unlock").click();
  await region("Recovery key").waitFor();
  const traces = await visitor.traces(page);
  for (const text of [changed, recoveryKey]) t.notOk(traces.includes(text));
  const present = await login({ url, email, password: changed, device });
  const seal = await personClient(present, url).recoverySeal();
  await checkRecoverySeal(present, { seal, recoveryKey });
  for (const old of [firstRecoveryKey, secondRecoveryKey])
    await t.rejects(checkRecoverySeal(present, { seal, recoveryKey: old }), { code: "not_decrypted" });
  t.same(await visitor.troubles(), []);
});
