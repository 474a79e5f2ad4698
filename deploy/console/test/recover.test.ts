import { newPassword } from "@coffer/console-app/new-password";
import { oneTimeCode } from "@coffer/console-app/one-time-code";
import { memoryKeeper, personClient } from "@coffer/sdk";
import { accountSecurity, login, register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { npmStart } from "../../local/test/npm-start.ts";
import { inaccessible, startVisitors } from "./browser.ts";

// A person who forgot the password comes back with the recovery key, also with a second factor.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const email = "alice@example.com";
const [forgotten, chosen] = [newPassword({ kind: "words", length: 5 }), newPassword({ kind: "words", length: 5 })];
const device = { id: crypto.randomUUID(), name: "other", type: "cli" } as const;
const { session, recoveryKey } = await register({ url, email, password: forgotten, device });
const keeper = memoryKeeper(session);
const alice = personClient(keeper, url);
const { id: vaultId } = await alice.vaults.create("Private");
await alice.records.create(vaultId, { type: "login", fields: { name: "Mail", password: "s3cret" } });
const security = accountSecurity(keeper, url);
const { secret } = await security.startTotp({ password: forgotten });
const codeAt = async (milliseconds: number): Promise<string> => (await oneTimeCode(secret, milliseconds))?.code ?? "";
const [spare = ""] = await security.confirmTotp(await codeAt(Date.now()));
const visitor = await (await startVisitors(t, url))();
const page = await visitor.open("/");
const button = (name: string) => page.getByRole("button", { name, exact: true });
const hidden = (name: string) => page.getByLabel(name, { exact: true });
let newKey = "";

const give = async (key: string): Promise<void> => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await hidden("Your recovery key").fill(key);
  await hidden("New password").fill(chosen);
  await hidden("Password again").fill(chosen);
  await button("Set the password").click();
};

await t.test("another recovery key is refused, beside the form", async (t) => {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "Back in with the recovery key" }).waitFor();
  t.equal(await page.getByRole("textbox", { name: "E-mail" }).inputValue(), email, "it is typed once");
  t.same(await inaccessible(page), []);
  await give(recoveryKey.slice(0, -1));
  await page.getByText("A recovery key is cfr1_ and 43 characters more.").waitFor();
  t.same(await inaccessible(page), []);
  await button("Show: Your recovery key").click();
  t.equal(await page.getByRole("textbox", { name: "Your recovery key" }).inputValue(), recoveryKey.slice(0, -1));
  await give(`cfr1_${"A".repeat(43)}`);
  await page.getByRole("alert").waitFor();
  t.match(await page.getByRole("alert").innerText(), /recovery key/);
  t.same(await inaccessible(page), []);
});

await t.test("the right one asks for a code, sets the password, and gives another key", async (t) => {
  await give(recoveryKey.replace(/.{20}/, "$& "));
  const code = page.getByRole("textbox", { name: "Code from your authenticator, or a recovery code" });
  await code.fill(spare);
  t.same(await inaccessible(page), []);
  await button("Set the password").click();
  const sheet = page.getByRole("region", { name: "Your recovery key" });
  newKey = /cfr1_[\w-]{43}/.exec(await sheet.innerText())?.[0] ?? "";
  t.not(newKey, recoveryKey);
  await page.getByRole("textbox", { name: /^Type its last 6/ }).fill(newKey.slice(-6));
  await button("Continue").click();
  await page.getByText("1 record", { exact: true }).waitFor();
  t.equal(new URL(page.url()).pathname, "/");
  await t.rejects(alice.account(), { code: "invalid_token" }, "the other sessions have ended");
});

await t.test("the new password is the account's, and none of it is on the page or in storage", async (t) => {
  const traces = await visitor.traces(page);
  for (const text of [recoveryKey, newKey, forgotten, chosen, spare]) t.notOk(traces.includes(text));
  // A code counts once: the next one.
  const otp = () => codeAt(Date.now() + 30_000);
  t.equal((await login({ url, email, password: chosen, device, otp })).user.email, email);
  await t.rejects(login({ url, email, password: forgotten, device, otp }), { code: "invalid_credentials" });
  t.same(await visitor.troubles(), []);
});
