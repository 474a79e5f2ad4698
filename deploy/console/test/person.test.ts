import { newPassword } from "@coffer/console-app/new-password";
import { oneTimeCode } from "@coffer/console-app/one-time-code";
import { personClient, type PersonSession } from "@coffer/sdk";
import { accountSecurity, login } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { npmStart, until } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors, type Visitor } from "./browser.ts";

// A person's first hour in the console, in a real browser, against one real installation. Each step goes on where the
// step before has ended.

const file = t;
const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(file, { directory: testDirectory(file), env: limits }).ready;
const newVisitor = await startVisitors(file, url);

const email = "alice@example.com";
const password = newPassword({ kind: "words", length: 5 });
const secret = "JBSWY3DPEHPK3PXP";
const recordPassword = newPassword({ kind: "characters", length: 20 });
/** What must be nowhere where another program could read it. */
const canaries = new Map([
  ["the password", password],
  ["the password of a record", recordPassword],
  ["the secret of a record's codes", secret],
]);

const alice = await newVisitor();
const page = await alice.open();
const bob = await newVisitor();
const bobs = await bob.open("/register");

const heading = (on: Page, name: string) => on.getByRole("heading", { name, exact: true });
const button = (on: Page, name: string) => on.getByRole("button", { name, exact: true });
const box = (on: Page, name: string) => on.getByRole("textbox", { name, exact: true });
const hidden = (on: Page, name: string) => on.getByLabel(name, { exact: true });

async function leavesNoTrace(t: Test, visitor: Visitor, on: Page): Promise<void> {
  const traces = await visitor.traces(on);
  for (const [name, canary] of canaries) t.notOk(traces.includes(canary), name);
  t.same(await visitor.troubles(), []);
}

async function signIn(on: Page, who = email): Promise<void> {
  await box(on, "E-mail").fill(who);
  await hidden(on, "Password").fill(password);
  await button(on, "Sign in").click();
}

await t.test("the sign-in is accessible, says what the service learns, and names what is wrong", async (t) => {
  await heading(page, "Sign in").waitFor();
  t.ok(await page.getByText("The service learns your e-mail and that you signed in.").isVisible());
  t.same(await inaccessible(page), []);
  await signIn(page, "nobody@example.com");
  await page.getByRole("alert").filter({ hasText: "do not belong together" }).waitFor();
  await box(page, "E-mail").fill("");
  await hidden(page, "Password").fill("");
});

await t.test("a person registers, and types a part of the recovery key back", async (t) => {
  await page.getByRole("link", { name: "Create account" }).click();
  t.equal(new URL(page.url()).pathname, "/register");
  t.same(await inaccessible(page), []);
  await box(page, "E-mail").fill(email);
  await hidden(page, "Password").fill("too short");
  await hidden(page, "Password again").fill("another");
  await button(page, "Create account").click();
  await page.getByText("A password has at least 10 characters.").waitFor();
  t.ok(await page.getByText("The two passwords differ.").isVisible());
  await hidden(page, "Password").fill(password);
  await hidden(page, "Password again").fill(password);
  await button(page, "Create account").click();
  await heading(page, "Your recovery key").waitFor();
  t.same(await inaccessible(page), []);
  const recoveryKey = /cfr1_[\w-]{43}/.exec(await page.getByRole("region", { name: "Your recovery key" }).innerText());
  canaries.set("the recovery key", recoveryKey?.[0] ?? "");
  await box(page, "Type its last 6 characters to show that you have it").fill("wrong!");
  await button(page, "Continue").click();
  await page.getByText("These are not its last 6 characters.").waitFor();
  await box(page, "Type its last 6 characters to show that you have it").fill(recoveryKey?.[0].slice(-6) ?? "");
  await button(page, "Continue").click();
  await heading(page, "You have no vault yet").waitFor();
  t.equal(new URL(page.url()).pathname, "/");
  t.ok(await page.getByText('coffer vault create "Private"').isVisible(), "the command that does the same");
  await page.getByText("Up to date").waitFor();
  t.same(await inaccessible(page), []);
  await leavesNoTrace(t, alice, page);
});

await t.test("a first vault and a first record, by the keyboard alone", async (t) => {
  await button(page, "New vault").first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New vault" }).waitFor();
  await page.keyboard.type("Private");
  await page.keyboard.press("Enter");
  await heading(page, "No record here yet").waitFor();
  t.ok(await page.getByText("coffer import --vault Private export.json").isVisible());
  await page.getByRole("searchbox", { name: "Search" }).press("Escape");
  await button(page, "New record").first().focus();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "New record" });
  await dialog.waitFor();
  t.same(await inaccessible(page), []);
  await page.keyboard.type("Example mail");
  await page.keyboard.press("Tab");
  await page.keyboard.type("alice");
  await page.keyboard.press("Tab");
  await page.keyboard.type(recordPassword);
  await dialog.getByRole("textbox", { name: "Authenticator secret" }).fill(secret);
  await dialog.getByRole("textbox", { name: "Website" }).fill("https://mail.example.com/");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Example mail", level: 2 }).waitFor();
  await page.getByText("s left").waitFor();
  t.same(await inaccessible(page), []);
  t.equal(new URL(page.url()).pathname, "/", "the address names no record");
  const messages = (await page.evaluate(() => seen.messages)).join("\n");
  t.match(messages, "Example mail");
  t.notOk(messages.includes(recordPassword), "the worker sends no secret unasked");
  t.equal(await page.title(), "Coffer");
  await leavesNoTrace(t, alice, page);
});

await t.test("a secret is on the page only while it is shown, and copying needs one key", async (t) => {
  await button(page, "Show: Password").click();
  await page.getByText(recordPassword).waitFor();
  await button(page, "Hide: Password").click();
  await leavesNoTrace(t, alice, page);
  await button(page, "Copy: Password").click();
  await page.getByRole("status").filter({ hasText: "Password: copied" }).waitFor();
  await page.keyboard.press("Escape");
  await heading(page, "Choose a record").waitFor();
  await page.keyboard.press("ArrowDown");
  const before = Date.now();
  for (const [key, what] of [
    ["u", "User name"],
    ["c", "Password"],
    ["t", "One-time code"],
  ] as const) {
    await page.keyboard.press(key);
    await page
      .getByRole("status")
      .filter({ hasText: `${what}: copied` })
      .waitFor();
  }
  const codes = await Promise.all([before, Date.now()].map((now) => oneTimeCode(secret, now)));
  const [first, user, again, code] = await page.evaluate(() => seen.copied);
  t.same([first, user, again], [recordPassword, "alice", recordPassword]);
  t.ok(codes.some((each) => each?.code === code));
  await leavesNoTrace(t, alice, page);
});

/** Another device of the same person: the SDK in this process. */
let other: PersonSession;

await t.test("what another device writes is there at once, and typing finds it", async (t) => {
  other = await login({ url, email, password, device: { id: crypto.randomUUID(), name: "other", type: "cli" } });
  const me = personClient(other, url);
  const [vault] = await me.vaults.list();
  for (const name of ["Bank", "Bücher", "Zebra"])
    await me.records.create(vault?.id ?? "", { type: "login", fields: { name, username: `${name} user` } });
  await page.getByText("4 records").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("bucher");
  await page.getByText("1 record", { exact: true }).waitFor();
  t.ok(await page.getByRole("button", { name: /^Bücher/ }).isVisible());
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Bücher", level: 2 }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByText("4 records").waitFor();
  const [zebra] = (await me.records.list(vault?.id ?? "")).filter(({ fields }) => fields["name"] === "Zebra");
  await me.records.remove(vault?.id ?? "", zebra?.id ?? "");
  await page.getByText("3 records").waitFor();
});

await t.test("a record is edited, with a new password of the generator", async (t) => {
  await page.getByRole("button", { name: /^Bank/ }).click();
  await button(page, "Edit").click();
  await button(page, "Generate").click();
  const made = page.getByRole("group", { name: "New password" }).getByRole("status");
  await until(async () => (await made.innerText()).length === 20);
  // A site may refuse symbols, and want fewer characters.
  await page.getByRole("checkbox", { name: "Symbols" }).press("Space");
  await page.getByRole("slider", { name: "Length: 20" }).fill("16");
  await until(async () => /^[A-Za-z2-9]{16}$/.test(await made.innerText()));
  const generated = await made.innerText();
  t.same(await inaccessible(page), []);
  await button(page, "Use it").click();
  await box(page, "Notes").fill("a note");
  await button(page, "Save").click();
  await page.getByText("a note").waitFor();
  canaries.set("the generated password", generated);
  await leavesNoTrace(t, alice, page);
  const me = personClient(other, url);
  const [vault] = await me.vaults.list();
  const [bank] = (await me.records.list(vault?.id ?? "")).filter(({ fields }) => fields["name"] === "Bank");
  t.same(bank?.fields, { name: "Bank", username: "Bank user", password: generated, notes: "a note" });
});

await t.test("a record that was changed elsewhere meanwhile asks: theirs or mine", async (t) => {
  const me = personClient(other, url);
  const [vault] = await me.vaults.list();
  const [bank] = (await me.records.list(vault?.id ?? "")).filter(({ fields }) => fields["name"] === "Bank");
  await button(page, "Edit").click();
  await box(page, "Notes").fill("my note");
  await box(page, "User name").fill("my user");
  const theirs = { ...bank?.fields, notes: "their note", username: "their user", uri: "https://bank.example" };
  await me.records.update(vault?.id ?? "", bank?.id ?? "", { fields: theirs });
  await button(page, "Save").click();
  await heading(page, "Changed elsewhere meanwhile").waitFor();
  t.same(await inaccessible(page), []);
  await page
    .getByRole("group", { name: "User name" })
    .getByRole("radio", { name: /^Theirs/ })
    .check();
  await button(page, "Save").click();
  await heading(page, "Changed elsewhere meanwhile").waitFor({ state: "detached" });
  await page.getByText("my note").waitFor();
  const saved = await me.records.get(vault?.id ?? "", bank?.id ?? "");
  t.same(saved.fields, { ...theirs, notes: "my note" });
});

await t.test("a record is deleted after a question", async (t) => {
  await button(page, "Delete").click();
  const dialog = page.getByRole("dialog", { name: "Delete this record?" });
  t.match(await dialog.innerText(), "“Bank” is deleted for everyone");
  t.same(await inaccessible(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  t.ok(await button(page, "Delete").evaluate((element) => element === document.activeElement), "the focus is back");
  await button(page, "Delete").click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("2 records").waitFor();
});

await t.test("a vault that a colleague shares is accepted by the name and sender of its history", async (t) => {
  await box(bobs, "E-mail").fill("bob@example.com");
  await hidden(bobs, "Password").fill(password);
  await hidden(bobs, "Password again").fill(password);
  await box(bobs, "Organization (optional)").fill("Example");
  await button(bobs, "Create account").click();
  const sheet = bobs.getByRole("region", { name: "Your recovery key" });
  const key = /cfr1_[\w-]{43}/.exec(await sheet.innerText())?.[0] ?? "";
  await box(bobs, "Type its last 6 characters to show that you have it").fill(key.slice(-6));
  await button(bobs, "Continue").click();
  await heading(bobs, "You have no vault yet").waitFor();
  const session = await login({
    ...{ url, email: "bob@example.com", password },
    device: { id: crypto.randomUUID(), name: "other", type: "cli" },
  });
  const his = personClient(session, url);
  const { token } = await his.invites.create(email, "member");
  await personClient(other, url).invites.accept(token);
  const { id } = await his.vaults.create("Team", { type: "shared" });
  await his.records.create(id, { type: "login", fields: { name: "Shared mail" } });
  await his.vaults.share(id, { userId: other.user.id, permission: "read" });
  await page.getByText("Shared with you: not accepted yet").waitFor();
  await button(page, "Review").click();
  const dialog = page.getByRole("dialog", { name: "Accept this vault?" });
  await dialog.getByText("bob@example.com shares the vault “Team” with you.").waitFor();
  t.ok(await dialog.getByText("The organization is Example.").isVisible());
  await dialog.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: /^Shared mail/ }).click();
  await page.getByText("You may read this vault, not change it.").waitFor();
  t.equal(await button(page, "Edit").count(), 0);
  await page
    .getByRole("navigation")
    .getByRole("button", { name: /^All records/ })
    .click();
  await page.getByText("3 records").waitFor();
});

await t.test("a manager sees who has a vault, gives it, changes what a member may do, and takes it away", async (t) => {
  const choose = (on: Page, name: string) =>
    on.getByRole("navigation").getByRole("button", { name: new RegExp(`^${name}`) });
  await choose(bobs, "Team").click();
  await button(bobs, "Share").click();
  const dialog = bobs.getByRole("dialog", { name: "Who has “Team”" });
  const members = dialog.getByRole("list", { name: "Members" }).getByRole("listitem");
  await members.filter({ hasText: email }).waitFor();
  t.match(await members.filter({ hasText: "bob@example.com (you)" }).innerText(), "manages");
  t.ok(await dialog.getByText("There is no other colleague to share it with.").isVisible());
  t.same(await inaccessible(bobs), []);

  await dialog.getByRole("combobox", { name: `What ${email} may do` }).selectOption("write");
  await choose(page, "Team").click();
  await page.getByRole("button", { name: /^Shared mail/ }).click();
  await button(page, "Edit").waitFor();
  await page.keyboard.press("Escape");
  await button(page, "Share").click();
  const seen = page.getByRole("dialog", { name: "Who has “Team”" });
  await seen.getByText("bob@example.com").waitFor();
  t.equal(await seen.getByRole("combobox").count(), 0, "who does not manage the vault changes nothing");
  t.equal(await seen.getByRole("button", { name: /^Remove/ }).count(), 0);
  await page.keyboard.press("Escape");

  await dialog.getByRole("button", { name: `Remove ${email}` }).click();
  const question = dialog.getByRole("region", { name: `Remove ${email}` });
  t.match(await question.innerText(), "a new key is made");
  t.same(await inaccessible(bobs), []);
  await question.getByRole("button", { name: "Remove" }).click();
  await choose(page, "Team").waitFor({ state: "detached" });
  await members.filter({ hasText: email }).waitFor({ state: "detached" });

  await dialog.getByRole("combobox", { name: "Colleague" }).selectOption(email);
  await dialog.getByRole("combobox", { name: "Permission" }).selectOption("read");
  await dialog.getByRole("button", { name: "Share" }).click();
  await members.filter({ hasText: email }).waitFor();
  await choose(page, "Team").click();
  await page.getByRole("button", { name: /^Shared mail/ }).waitFor();
  await choose(page, "All records").click();
  await page.getByText("3 records").waitFor();
  await leavesNoTrace(t, bob, bobs);
  await bob.context.close();
});

await t.test("the help lists each key and the same in a terminal", async (t) => {
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys and commands" });
  await dialog.getByText("coffer vault ls").waitFor();
  t.same(await inaccessible(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

await t.test(
  "a journey: what is not safe is gone, here and in what the browser stores, until the password",
  async (t) => {
    const me = personClient(other, url);
    const hiddenName = `Hidden ${newPassword({ kind: "characters", length: 12 })}`;
    const { id } = await me.vaults.create(hiddenName);
    const { id: recordId } = await me.records.create(id, { type: "note", fields: { name: "Hidden note" } });
    await page.getByText("4 records").waitFor();
    await button(page, "Travel mode").click();
    t.equal(new URL(page.url()).pathname, "/travel");
    await page.getByText("Travel mode is off.").waitFor();
    t.same(await inaccessible(page), []);
    await page.getByRole("checkbox", { name: "Private" }).click();
    await page.getByText("1 stay, 2 go").waitFor();
    t.ok(await page.getByRole("checkbox", { name: "Team" }).isDisabled(), "its managers decide");
    await button(page, "Start the journey").click();
    const dialog = page.getByRole("dialog", { name: "Hide these vaults now?" });
    await dialog.waitFor();
    t.same((await dialog.getByRole("listitem").allInnerTexts()).sort(), [hiddenName, "Team"].sort());
    t.same(await inaccessible(page), []);
    await dialog.getByRole("button", { name: "Start the journey" }).click();
    await page.getByText(/^Travel mode is on since/).waitFor();
    t.same(await inaccessible(page), []);
    await button(page, "Back to the records").click();
    await page.getByText("2 records").waitFor();
    const traces = await alice.traces(page);
    for (const absent of [hiddenName, "Hidden note", "Team", "Shared mail", id, recordId])
      t.notOk(traces.includes(absent), absent);
    await page.reload();
    await page.getByText("2 records").waitFor();
    await button(page, "Travel mode").click();
    await hidden(page, "Password").fill("not the password");
    await button(page, "End the journey").click();
    await page.getByText("That is not your password.").waitFor();
    await hidden(page, "Password").fill(password);
    await button(page, "End the journey").click();
    await page.getByText("Travel mode is off.").waitFor();
    await button(page, "Back to the records").click();
    await page.getByText("4 records").waitFor();
    await me.vaults.remove(id);
    await page.getByText("3 records").waitFor();
    await leavesNoTrace(t, alice, page);
  },
);

await t.test("a reload and a second tab need no password; lock and unlock reach both", async (t) => {
  await page.reload();
  await page.getByText("3 records").waitFor();
  const second = await alice.open();
  await second.getByText("3 records").waitFor();
  await button(second, "Lock").click();
  await heading(page, "Locked").waitFor();
  t.same(await inaccessible(page), []);
  await leavesNoTrace(t, alice, page);
  await hidden(page, "Password").fill("not the password");
  await button(page, "Unlock").click();
  await page.getByText("That is not your password.").waitFor();
  await hidden(page, "Password").fill(password);
  await button(page, "Unlock").click();
  await page.getByText("3 records").waitFor();
  await second.getByText("3 records").waitFor();
  await button(second, "Sign out").click();
  await heading(page, "Sign in").waitFor();
  await heading(second, "Sign in").waitFor();
  await leavesNoTrace(t, alice, second);
  await second.close();
});

await t.test("no message to a page has had a key or a token", async (t) => {
  const messages = (await page.evaluate(() => seen.messages)).join("\n");
  t.match(messages, "Example mail", "the messages were seen");
  for (const [name, text] of [
    ["the user key", other.user_key],
    ["the private key", other.encrypted_private_key],
  ] as const)
    t.notOk(messages.includes(text), name);
  t.notMatch(messages, /eyJ[\w-]+\.|refresh_token|access_token|user_key/);
});

await t.test("the second factor is asked for, again after a wrong code", async (t) => {
  const security = accountSecurity(other, url);
  const { secret: factor } = await security.startTotp({ password });
  const [recoveryCode = ""] = await security.confirmTotp((await oneTimeCode(factor, Date.now()))?.code ?? "");
  await signIn(page);
  await heading(page, "Second factor").waitFor();
  t.same(await inaccessible(page), []);
  const field = box(page, "Code from your authenticator, or a recovery code");
  await field.fill("000000");
  await button(page, "Confirm").click();
  await page.getByText("That code is not valid now.").waitFor();
  await field.fill(recoveryCode);
  await button(page, "Confirm").click();
  await page.getByText("3 records").waitFor();
});

await t.test("a session that is ended elsewhere ends here, and says why", async (t) => {
  const me = personClient(other, url);
  const mine = (await me.sessions.list()).filter(({ id }) => id !== other.session_id);
  for (const { id } of mine) await me.sessions.end(id);
  await page.getByText("Your session was ended elsewhere. Sign in again.").waitFor();
  await leavesNoTrace(t, alice, page);
});
